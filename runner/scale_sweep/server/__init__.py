"""The server under test: what each database needs (`targets`), where it runs (`runtimes`), and the pinned servers that
`scale servers` installs (`pinned`)."""
