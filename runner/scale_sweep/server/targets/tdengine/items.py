"""The names that --knob accepts: items of taos.cfg as TDengine 3.3.0.0's server lists them, with their pitfalls."""

from __future__ import annotations

ITEMS = frozenset(
    """arbCheckSyncIntervalSec arbHeartBeatIntervalSec arbSetAssignedTimeoutSec assert asyncLog audit auditCreateTable
    auditInterval cacheLazyLoadThreshold checkpointBackupDir checkpointInterval compactPullupInterval compressMsgSize
    compressor countAlwaysReturnValue crashReporting curRange dDebugFlag dPrecision debugFlag disableStream
    enableCoreFile enableWhiteList encryptAlgorithm encryptScope experimental fPrecision filterScalarMode fsDebugFlag
    idxDebugFlag ifAdtFse keepAliveIdle logKeepDays lossyColumns mDebugFlag maxRange maxRetryWaitTime
    maxStreamBackendCache maxTsmaNum metaDebugFlag minDiskFreeSize minimalDataDirGB minimalLogDirGB minimalTmpDirGB
    mndLogRetention mndSdbWriteDelta monitor monitorComp monitorForceV2 monitorFqdn monitorInterval
    monitorIntervalForBasic monitorLogProtocol monitorMaxLogs monitorPort mqRebalanceInterval numOfCommitThreads
    numOfCores numOfLogLines numOfMnodeReadThreads numOfQnodeQueryThreads numOfRpcSessions numOfRpcThreads
    numOfSnodeSharedThreads numOfSnodeUniqueThreads numOfVnodeFetchThreads numOfVnodeQueryThreads numOfVnodeRsmaThreads
    pqSortMemThreshold qDebugFlag queryBufferSize queryRsmaTolerance queryRspPolicy ratioOfVnodeStreamThreads
    resolveFQDNRetryTime rpcDebugFlag rpcQueueMemoryAllowed rsyncPort s3Accesskey s3BucketName s3Endpoint
    s3MigrateEnabled s3MigrateIntervalSec s3PageCacheSize s3UploadDelaySec sDebugFlag shellActivityTimer simDebugFlag
    simdEnable skipGrant smaDebugFlag snodeAddress sndDebugFlag stDebugFlag statusInterval streamAggCnt streamBufferSize
    streamSinkDataRate supportVnodes syncElectInterval syncHeartbeatInterval syncHeartbeatTimeout syncSnapReplMaxWaitN
    tagFilterCache tdbDebugFlag telemetryInterval telemetryPort telemetryReporting telemetryServer
    timeToGetAvailableConn timeseriesThreshold tmqMaxTopicNum tmqRowSize tmrDebugFlag tqDebugFlag transPullupInterval
    trimVDbIntervalSec tsdbDebugFlag ttlBatchDropNum ttlChangeOnWrite ttlFlushThreshold ttlPushInterval ttlUnit
    uDebugFlag udf udfDebugFlag udfdLdLibPath udfdResFuncs uptimeInterval vDebugFlag wDebugFlag
    walFsyncDataSizeLimit""".split()
)

# The server's address and directories: the trial sets these, because the load must reach this server.
OURS = ("fqdn", "firstEp", "secondEp", "serverPort", "dataDir", "logDir", "tempDir", "configDir", "scriptDir")

# Names of version 2 and of taos.cfg for today's options of CREATE DATABASE.
FORMER = {
    "wallevel": "wal_level",
    "fsync": "wal_fsync_period",
    "days": "duration",
    "cache": "buffer",
    "blocks": "buffer",
    "cachelast": "cachemodel",
    "minrowsperfileblock": "minrows",
    "maxrowsperfileblock": "maxrows",
}

# taosd does not start outside these ranges. If only the least value is known, the greatest is that of its type.
BOUNDS = {
    "numOfCores": (1.0, 100_000.0),
    "numOfCommitThreads": (1, 1024),
    "numOfRpcThreads": (1, 1024),
    "numOfRpcSessions": (1, 100_000),
    "numOfVnodeQueryThreads": (4, 1024),
    "numOfVnodeFetchThreads": (4, 1024),
    "supportVnodes": (0, 4096),
    "rpcQueueMemoryAllowed": (100 * 2**20, 2**63 - 1),
    "minDiskFreeSize": (50 * 2**20, 2**63 - 1),
    "walFsyncDataSizeLimit": (100 * 2**20, 2**63 - 1),
    "minimalDataDirGB": (0.001, 1e7),
    "minimalLogDirGB": (0.001, 1e7),
    "minimalTmpDirGB": (0.001, 1e7),
}

_BY_LOWER = {name.lower(): name for name in (*ITEMS, *OURS)}


def spelled(name: str) -> str:
    """The item in the server's spelling: taosd ignores case. An unknown name stays unchanged."""
    return _BY_LOWER.get(name.lower(), name)
