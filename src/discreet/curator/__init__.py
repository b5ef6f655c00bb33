"""The custodian's side: vaults, tables, grants and policies; and the analyst's: sessions, questions and answers."""
