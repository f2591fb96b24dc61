"""The names that a --knob can have: items of taos.cfg of TDengine 3.3.0.0 as its server lists them, and their traps.

taosd skips what it does not know in taos.cfg without a word, so that a mistyped knob would measure the default.
Pure data and one look-up; whether a value will do is admission's question.
"""

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

# Where the server is and where its data lie: a trial decides these, and a server moved elsewhere is not the one loaded.
OURS = ("fqdn", "firstEp", "secondEp", "serverPort", "dataDir", "logDir", "tempDir", "configDir", "scriptDir")

# Names of version 2 and of taos.cfg for what is an option of CREATE DATABASE now.
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

# Outside these taosd does not start; where only a least value is known, the greatest is that of its number.
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
    """The item as the server lists it: taosd ignores case. A name that it does not have stays as it is."""
    return _BY_LOWER.get(name.lower(), name)
