-- Takes one request out of a key's allowance (GCRA) and one of its concurrent slots, or neither.
--
-- KEYS[1]  string: theoretical arrival time, µs since the epoch
-- KEYS[2]  sorted set: leases, scored by the time they expire, µs since the epoch
-- ARGV[1]  emission interval, whole µs
-- ARGV[2]  burst, requests
-- ARGV[3]  concurrent requests allowed; empty for any number, which needs no lease
-- ARGV[4]  name of the lease to take; empty to read the state only
-- ARGV[5]  time to live of a lease, µs
--
-- Returns { refused by (0 none, 1 rate, 2 concurrency), theoretical arrival time - now (µs), wait (µs) }, followed by the number of leases
-- in use if only the state is read.
-- The time is the server's, so that instances whose clocks differ agree.
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local interval, burst = tonumber(ARGV[1]), tonumber(ARGV[2])
local function store(arrival)
  redis.call('SET', KEYS[1], string.format('%.0f', arrival), 'PX', math.ceil((arrival - now) / 1000) + 1000)
end

local arrival = tonumber(redis.call('GET', KEYS[1]) or 0)
-- Capped at one burst from now, and stored even if the request is rejected. A larger value remains if limits change or the clock is set
-- back.
local maxArrival = now + burst * interval
if arrival > maxArrival then
  arrival = maxArrival
  store(arrival)
end
local base = math.max(arrival, now)
if ARGV[4] == '' then return { 0, math.floor(base - now), 0, redis.call('ZCOUNT', KEYS[2], now, '+inf') } end

local next = base + interval
local wait = next - maxArrival
if wait > 0 then return { 1, math.floor(base - now), math.ceil(wait) } end

local concurrent = tonumber(ARGV[3])
if concurrent then
  redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now)
  if redis.call('ZCARD', KEYS[2]) >= concurrent then return { 2, math.floor(base - now), 1000000 } end

  local lifetime = tonumber(ARGV[5])
  redis.call('ZADD', KEYS[2], now + lifetime, ARGV[4])
  redis.call('PEXPIRE', KEYS[2], math.ceil(lifetime / 1000) + 1000)
end
store(next)
return { 0, math.floor(next - now), 0 }
