"""The controller's side of a sweep on several hosts: the server on one, its load on others.

`inventory` reads the hosts, `package` makes what a host gets, `playbook` puts it there, `link` reaches a host's agent
by OpenSSH, `place` runs trials there, `held_setup` keeps their data directory there. Refuses to know a
database: the agent on the server's host runs the trial.
"""
