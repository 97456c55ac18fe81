-- Records a heartbeat of an instance, and counts the live instances.
--
-- KEYS[1]  sorted set: instances, scored by the time their heartbeat expires, µs since the epoch
-- ARGV[1]  the instance
-- ARGV[2]  time to live, µs
--
-- Returns { number of instances, 1 if this instance was not among them }.
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local lifetime = tonumber(ARGV[2])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
local isNew = redis.call('ZADD', KEYS[1], now + lifetime, ARGV[1])
redis.call('PEXPIRE', KEYS[1], math.ceil(lifetime / 1000) + 1000)
return { redis.call('ZCARD', KEYS[1]), isNew }
