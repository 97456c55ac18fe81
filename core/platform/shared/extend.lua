-- Extends a claim if it still belongs to its owner.
--
-- KEYS[1]  string: the claim
-- ARGV[1]  the owner
-- ARGV[2]  time to live from now on, ms
--
-- Returns 1 if it was extended.
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
return 0
