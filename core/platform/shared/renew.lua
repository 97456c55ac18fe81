-- Renews leases. Adds missing leases again, because a restarted Redis has lost them.
--
-- KEYS[1]  sorted set: leases, scored by the time they expire, µs since the epoch
-- ARGV[1]  time to live from now on, µs
-- ARGV[2]… the leases
local time = redis.call('TIME')
local lifetime = tonumber(ARGV[1])
local expires = time[1] * 1000000 + time[2] + lifetime
for index = 2, #ARGV do redis.call('ZADD', KEYS[1], expires, ARGV[index]) end
redis.call('PEXPIRE', KEYS[1], math.ceil(lifetime / 1000) + 1000)
