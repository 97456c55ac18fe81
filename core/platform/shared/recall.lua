-- Reads entries of a group.
--
-- KEYS[1]  hash: values by name
-- KEYS[2]  sorted set: names, scored by the time they expire, ms since the epoch
-- ARGV     names
--
-- Returns the values in the order of the names; nil for missing and expired values.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local values = {}
for index, name in ipairs(ARGV) do
  local expires = redis.call('ZSCORE', KEYS[2], name)
  values[index] = expires and tonumber(expires) > now and redis.call('HGET', KEYS[1], name)
end
return values
