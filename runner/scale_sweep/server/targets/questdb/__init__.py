"""QuestDB."""
