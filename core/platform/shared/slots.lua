-- Slots of a pool, and those who wait for one: start-time fair queueing by account. plugins/upstream/capacity/fair-queue.ts does the
-- same arithmetic and explains it; the numbers come from slots.ts.
--
-- KEYS[1]  string, MessagePack: the pool: virtual time, means, decaying use, learned limit, rate
-- KEYS[2]  hash: accounts, MessagePack each
-- KEYS[3]  sorted set: accounts that wait, by start tag; each name behind a number, so that equal ones keep their order
-- KEYS[4]  sorted set without scores: account NUL number NUL id of all that wait
-- KEYS[5]  hash: member of KEYS[4] by id
-- KEYS[6]  hash: slots in use by id, MessagePack each
-- KEYS[7]  sorted set without scores: all ids, which begin with their instance and a colon
-- KEYS[8]  sorted set: instances, scored by the time they count as dead, ms since the epoch
-- ARGV     operation, time in ms (empty: the server's), instance, its lifetime in ms, channel of grants without the instance, numbers
--          as JSON, slots, requests, period in ms, most that wait of an account, and of all (empty: any number),
--   enter  id, account, weight, 1 when it may wait
--   adopt  id, account, weight, age in ms
--   end    id, 1 when served, share refused, requests left (empty: unknown), ms for which these are left
--   beat
--
-- Returns { state (running, waiting, refused, ''), position, expected ms, ms until the rate allows the next one ('' when nobody waits
-- for that), number of ids granted, these ids…, for beat also every id of the instance with 1 for a slot and 0 for a place }.
local op, instance, channel, numbers = ARGV[1], ARGV[3], ARGV[5], cjson.decode(ARGV[6])
local function number(index) return tonumber(ARGV[index]) or math.huge end
local concurrent, requests, period, mostOwn, mostWaiting = number(7), number(8), number(9), number(10), number(11)
local now = tonumber(ARGV[2])
if not now then
  local time = redis.call('TIME')
  now = time[1] * 1000 + time[2] / 1000
end

-- Redis short of memory evicts single keys: the others say nothing without the pool.
local stored = redis.call('GET', KEYS[1])
if not stored then redis.call('DEL', unpack(KEYS)) end
local pool = stored and cmsgpack.unpack(stored)
  or { virtual = 0, last = 0, use = 0, usedAt = now, arrival = 0, cutAt = 0, leftUntil = 0, sweptAt = now, number = 0 }

local function decayed(use, at) return use * 2 ^ (-(now - at) / numbers.halfLife) end
local function mixed(mean, latest, gain) return mean and mean + gain * (latest - mean) or latest end
local function count(key) return redis.call('ZCARD', key) end

local loaded = {}
local function accountOf(name)
  if not loaded[name] then
    local bytes = redis.call('HGET', KEYS[2], name)
    loaded[name] = bytes and cmsgpack.unpack(bytes)
      or { weight = 1, finish = 0, use = 0, usedAt = now, running = 0, waiting = 0, isNew = true }
  end
  return loaded[name]
end
local function countAccounts()
  local all = redis.call('HLEN', KEYS[2])
  for _, account in pairs(loaded) do if account.isNew then all = all + 1 end end
  return all
end

local function limit()
  if not pool.learned or now - pool.cutAt >= numbers.cutMemory then return concurrent end
  return math.min(concurrent, math.max(1, math.floor(pool.learned)))
end

-- Ms until another request may start; infinite when a slot has to become free first.
local function room()
  if redis.call('HLEN', KEYS[6]) >= limit() then return math.huge end
  local byRate = 0
  if requests ~= math.huge then
    byRate = math.max(math.min(pool.arrival, now + period), now) + period / requests - period - now
  end
  local byHeaders = (not pool.left or pool.left > 0) and 0 or pool.leftUntil - now
  return math.max(0, byRate, byHeaders)
end

local function burden(account)
  local all = decayed(pool.use, pool.usedAt)
  if all <= 0 then return 1 end
  local ratio = decayed(account.use, account.usedAt) / account.weight * countAccounts() / all
  return math.min(numbers.mostBurden, math.max(1, ratio))
end

local function start(id, name, tag, startedAt)
  local account = accountOf(name)
  local charged = account.mean or pool.mean or numbers.firstMean
  local price = burden(account) / account.weight
  pool.virtual = math.max(pool.virtual, tag)
  account.finish = tag + charged * price
  account.running = account.running + 1
  pool.last = math.max(pool.last, account.finish)
  redis.call('HSET', KEYS[6], id,
    cmsgpack.pack({ account = name, startedAt = startedAt, charged = charged, price = price }))
  if requests ~= math.huge then
    pool.arrival = math.max(now, math.min(pool.arrival, now + period)) + period / requests
  end
  if pool.left then pool.left = pool.left - 1 end
end

local function line(name, account, tag)
  pool.number = pool.number + 1
  account.place = string.format('%015d:', pool.number) .. name
  redis.call('ZADD', KEYS[3], string.format('%.17g', tag), account.place)
end
local function unline(account)
  if account.place then redis.call('ZREM', KEYS[3], account.place) end
  account.place = nil
end

local function learn(served, refused, inUse, startedAt)
  local most = limit()
  if refused > 0 then
    if startedAt < pool.cutAt then return end
    pool.learned = math.max(1, math.min(most, inUse) * (1 - numbers.cut * refused))
    pool.cutAt = now
  elseif served and pool.learned and inUse >= most then
    pool.learned = math.min(concurrent, pool.learned + numbers.raise / pool.learned)
  end
end

-- Ends what the id has: a slot, a place or nothing. Returns its account.
local function free(id, served, refused, left, leftFor)
  redis.call('ZREM', KEYS[7], id)
  local member = redis.call('HGET', KEYS[5], id)
  if member then
    redis.call('HDEL', KEYS[5], id)
    redis.call('ZREM', KEYS[4], member)
    local name = string.match(member, '^%Z*')
    local account = accountOf(name)
    account.waiting = math.max(0, account.waiting - 1)
    if account.waiting == 0 then unline(account) end
    return name
  end
  local bytes = redis.call('HGET', KEYS[6], id)
  if not bytes then return nil end
  local inUse = redis.call('HLEN', KEYS[6])
  redis.call('HDEL', KEYS[6], id)
  local slot = cmsgpack.unpack(bytes)
  local account = accountOf(slot.account)
  local took = math.max(0, now - slot.startedAt)
  local correction = (took - slot.charged) * slot.price
  account.running = math.max(0, account.running - 1)
  account.finish = account.finish + correction
  if account.place then
    local tag = tonumber(redis.call('ZSCORE', KEYS[3], account.place) or pool.virtual)
    redis.call('ZADD', KEYS[3], string.format('%.17g', math.max(pool.virtual, tag + correction)), account.place)
  end
  account.use = decayed(account.use, account.usedAt) + took
  account.usedAt = now
  pool.use = decayed(pool.use, pool.usedAt) + took / account.weight
  pool.usedAt = now
  if served then
    account.mean = mixed(account.mean, took, numbers.accountGain)
    pool.mean = mixed(pool.mean, took, numbers.gain)
  end
  learn(served, refused, inUse, slot.startedAt)
  if left then
    pool.left = left
    pool.leftUntil = now + math.min(leftFor, numbers.longestLeft)
  end
  return slot.account
end

-- What an instance has, or had when it died.
local function idsOf(name)
  return redis.call('ZRANGEBYLEX', KEYS[7], '[' .. name .. ':', '(' .. name .. ';')
end

local mine, others = {}, {}
local function grant()
  while room() == 0 do
    local first = redis.call('ZRANGE', KEYS[3], 0, 0, 'WITHSCORES')
    if not first[1] then return end
    local name = string.sub(first[1], 17)
    local account = accountOf(name)
    local member = redis.call('ZRANGEBYLEX', KEYS[4], '[' .. name .. '\0', '(' .. name .. '\1', 'LIMIT', 0, 1)[1]
    redis.call('ZREM', KEYS[3], first[1])
    account.place = nil
    if not member then
      account.waiting = 0
    else
      local id = string.match(member, '%z([^%z]*)$')
      redis.call('ZREM', KEYS[4], member)
      redis.call('HDEL', KEYS[5], id)
      account.waiting = account.waiting - 1
      start(id, name, tonumber(first[2]), now)
      if account.waiting > 0 then line(name, account, math.max(pool.virtual, account.finish)) end
      local owner = string.match(id, '^[^:]*')
      local ids = owner == instance and mine or others[owner] or {}
      if owner ~= instance then others[owner] = ids end
      ids[#ids + 1] = id
    end
  end
end

for _, dead in ipairs(redis.call('ZRANGEBYSCORE', KEYS[8], '-inf', now)) do
  if dead ~= instance then
    for _, id in ipairs(idsOf(dead)) do free(id, false, 0) end
    redis.call('ZREM', KEYS[8], dead)
  end
end
redis.call('ZADD', KEYS[8], now + tonumber(ARGV[4]), instance)

local state, name = '', nil
if op == 'enter' or op == 'adopt' then
  local id = ARGV[12]
  free(id, false, 0)
  name = ARGV[13]
  local account = accountOf(name)
  account.weight = tonumber(ARGV[14])
  if redis.call('HLEN', KEYS[6]) == 0 and count(KEYS[4]) == 0 then pool.virtual = math.max(pool.virtual, pool.last) end
  if op == 'adopt' then
    start(id, name, math.max(pool.virtual, account.finish), now - tonumber(ARGV[15]))
    state = 'running'
  else
    grant()
    if count(KEYS[4]) == 0 and room() == 0 then
      start(id, name, math.max(pool.virtual, account.finish), now)
      state = 'running'
    elseif ARGV[15] ~= '1' or account.waiting >= mostOwn or count(KEYS[4]) >= mostWaiting then
      state = 'refused'
    else
      pool.number = pool.number + 1
      local member = name .. '\0' .. string.format('%015d', pool.number) .. '\0' .. id
      redis.call('ZADD', KEYS[4], 0, member)
      redis.call('HSET', KEYS[5], id, member)
      account.waiting = account.waiting + 1
      if not account.place then line(name, account, math.max(pool.virtual, account.finish)) end
      state = 'waiting'
    end
  end
  if state ~= 'refused' then redis.call('ZADD', KEYS[7], 0, id) end
elseif op == 'end' then
  name = free(ARGV[12], ARGV[13] == '1', tonumber(ARGV[14]), tonumber(ARGV[15]), tonumber(ARGV[16]))
elseif now - pool.sweptAt >= numbers.sweepInterval then
  pool.sweptAt = now
  local all = redis.call('HGETALL', KEYS[2])
  for index = 1, #all, 2 do
    local account = cmsgpack.unpack(all[index + 1])
    local isIdle = account.running == 0 and account.waiting == 0 and account.finish <= pool.virtual
    if isIdle and decayed(account.use, account.usedAt) < numbers.forgottenUse and not loaded[all[index]] then
      redis.call('HDEL', KEYS[2], all[index])
    end
  end
end
grant()

for one, account in pairs(loaded) do
  account.isNew = nil
  redis.call('HSET', KEYS[2], one, cmsgpack.pack(account))
end
redis.call('SET', KEYS[1], cmsgpack.pack(pool))
for _, key in ipairs(KEYS) do redis.call('PEXPIRE', key, numbers.cutMemory) end
for owner, ids in pairs(others) do
  redis.call('PUBLISH', channel .. owner, string.match(KEYS[1], '{(.*)}') .. ' ' .. table.concat(ids, ' '))
end

local account = name and accountOf(name) or { waiting = 0 }
local own, waiting, free_ = account.waiting, count(KEYS[4]), room()
local last = state == 'waiting' and own or own + 1
local position = last + math.min(waiting - own, last * (count(KEYS[3]) - (own > 0 and 1 or 0)))
local interval = math.max((pool.mean or numbers.firstMean) / limit(), requests == math.huge and 0 or period / requests)
local expected = math.max(position * interval, free_ == math.huge and 0 or free_)
local reply = { state, position, string.format('%.3f', expected),
  waiting > 0 and free_ ~= math.huge and string.format('%.3f', free_) or '', #mine }
for _, id in ipairs(mine) do reply[#reply + 1] = id end
if op == 'beat' then
  for _, id in ipairs(idsOf(instance)) do
    reply[#reply + 1] = id
    reply[#reply + 1] = redis.call('HEXISTS', KEYS[6], id)
  end
end
return reply
