"""Disclosure: what a custodian shows others of a vault: certificates, a deployment's record, an evaluation."""
