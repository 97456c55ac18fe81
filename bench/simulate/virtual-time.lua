-- Runs before each script of the gateway, on the real Redis: TIME is the time of the simulation, and keys expire by it.
--
-- ARGV, last  the time, µs since the epoch; removed before the script sees it
local server, now = redis, tonumber(ARGV[#ARGV])
ARGV[#ARGV] = nil
local expiries = 'sim:expiries'

local function expire(key, milliseconds)
  server.call('HSET', expiries, key, string.format('%.0f', now + milliseconds * 1000))
  return 1
end

local redis = {}
function redis.call(command, key, ...)
  if command == 'TIME' then return { string.format('%.0f', math.floor(now / 1000000)), string.format('%.0f', now % 1000000) } end
  for _, name in ipairs(command == 'DEL' and { key, ... } or { key }) do
    local ends = tonumber(server.call('HGET', expiries, name))
    if ends and ends <= now then server.call('DEL', name) end
    if ends and (ends <= now or command == 'DEL' or command == 'SET' and select(4, ...) ~= 'NX') then
      server.call('HDEL', expiries, name)
    end
  end
  if command == 'PTTL' then
    local ends = tonumber(server.call('HGET', expiries, key))
    return server.call('EXISTS', key) == 0 and -2 or ends and math.floor((ends - now) / 1000) or -1
  end
  if command == 'PEXPIRE' then return server.call('EXISTS', key) == 1 and expire(key, ...) or 0 end
  if command ~= 'SET' then return server.call(command, key, ...) end
  local value, _, milliseconds, condition = ...
  local done = condition and server.call('SET', key, value, condition) or not condition and server.call('SET', key, value)
  if done and milliseconds then expire(key, milliseconds) end
  return done
end
