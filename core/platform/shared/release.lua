-- Deletes a claim if it still belongs to its owner.
--
-- KEYS[1]  string: the claim
-- ARGV[1]  the owner
--
-- Returns 1 if it was deleted.
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0
