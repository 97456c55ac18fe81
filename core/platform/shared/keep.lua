-- Stores entries in a group. Over the group's limits, the oldest entries are removed.
--
-- KEYS[1]  hash: values by name
-- KEYS[2]  sorted set: names, scored by the time they expire, ms since the epoch
-- KEYS[3]  string: bytes of all values
-- ARGV[1]  time to live, ms
-- ARGV[2]  entries allowed
-- ARGV[3]  bytes allowed
-- ARGV[4]… names and values, alternating
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local lifetime = tonumber(ARGV[1])
local bytes = tonumber(redis.call('GET', KEYS[3]) or 0)
local count = redis.call('ZCARD', KEYS[2])

-- When Redis is short of memory, it evicts single keys. The others are useless without them.
if bytes == 0 or redis.call('HLEN', KEYS[1]) ~= count then
  redis.call('DEL', KEYS[1], KEYS[2])
  bytes, count = 0, 0
end

local function remove(name)
  if redis.call('ZREM', KEYS[2], name) == 0 then return end
  bytes = bytes - redis.call('HSTRLEN', KEYS[1], name)
  count = count - 1
  redis.call('HDEL', KEYS[1], name)
end

for _, name in ipairs(redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', now)) do remove(name) end
for index = 4, #ARGV, 2 do
  local name, value = ARGV[index], ARGV[index + 1]
  remove(name)
  redis.call('HSET', KEYS[1], name, value)
  redis.call('ZADD', KEYS[2], now + lifetime, name)
  bytes = bytes + #value
  count = count + 1
end
while count > 0 and (count > tonumber(ARGV[2]) or bytes > tonumber(ARGV[3])) do
  remove(redis.call('ZRANGE', KEYS[2], 0, 0)[1])
end

redis.call('SET', KEYS[3], bytes)
for _, key in ipairs(KEYS) do redis.call('PEXPIRE', key, lifetime) end
return count
