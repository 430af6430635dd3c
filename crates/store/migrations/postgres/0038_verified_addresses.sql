-- Time at which a user proved to read the mailbox of their address: with a link, or through the provider of single
-- sign-on. NULL if nobody did.
ALTER TABLE users ADD COLUMN email_verified_at BIGINT;
