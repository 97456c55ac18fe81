-- Slots of a pool, and the requests that wait for a slot: start-time fair queueing by account. plugins/upstream/capacity/fair-queue.ts
-- computes the same and explains it; the constants come from slots.ts.
--
-- KEYS[1]  string, MessagePack: the pool: virtual time, means, decaying use, learned limit, rate
-- KEYS[2]  hash: accounts, MessagePack each
-- KEYS[3]  sorted set: waiting accounts by start tag; a number precedes each name, so that accounts with equal tags keep their order
-- KEYS[4]  sorted set without scores: account NUL number NUL id of each waiting request
-- KEYS[5]  hash: member of KEYS[4] by id
-- KEYS[6]  hash: slots in use by id, MessagePack each
-- KEYS[7]  sorted set without scores: all ids, which begin with their instance and a colon
-- KEYS[8]  sorted set: instances, scored by the time they count as dead, ms since the epoch
-- ARGV     operation, time in ms (empty: the server's), instance, its lifetime in ms, channel of grants without the instance, constants
--          as JSON, slots, requests, period in ms, maximum waiting requests of an account, and of all accounts (empty: no limit),
--   enter  id, account, weight, 1 if it can wait
--   adopt  id, account, weight, age in ms
--   end    id, 1 if served, share refused, remaining requests (empty: unknown), ms for which that number is valid
--   beat
--
-- Returns { state (running, waiting, refused, ''), position, expected ms, ms until the rate allows the next request ('' if no request
-- waits for that), number of granted ids, the granted ids…, and for beat every id of the instance with 1 for a slot and 0 for a place }.
local op, instance, channel, constants = ARGV[1], ARGV[3], ARGV[5], cjson.decode(ARGV[6])
local function number(index) return tonumber(ARGV[index]) or math.huge end
local concurrent, requests, period, maxOfAccount, maxWaiting = number(7), number(8), number(9), number(10), number(11)
local now = tonumber(ARGV[2])
if not now then
  local time = redis.call('TIME')
  now = time[1] * 1000 + time[2] / 1000
end

-- When Redis is short of memory, it evicts single keys. The others are useless without the pool.
local stored = redis.call('GET', KEYS[1])
if not stored then redis.call('DEL', unpack(KEYS)) end
local pool = stored and cmsgpack.unpack(stored)
  or { virtual = 0, last = 0, use = 0, usedAt = now, arrival = 0, cutAt = 0, leftUntil = 0, sweptAt = now, number = 0 }

local function decay(use, usedAt) return use * 2 ^ (-(now - usedAt) / constants.halfLifeMs) end
local function mix(mean, latest, gain) return mean and mean + gain * (latest - mean) or latest end
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
  if not pool.learned or now - pool.cutAt >= constants.cutMemoryMs then return concurrent end
  return math.min(concurrent, math.max(1, math.floor(pool.learned)))
end

-- Ms until another request may start; infinite if a slot must become free first.
local function timeUntilStart()
  if redis.call('HLEN', KEYS[6]) >= limit() then return math.huge end
  local byRate = 0
  if requests ~= math.huge then
    byRate = math.max(math.min(pool.arrival, now + period), now) + period / requests - period - now
  end
  local byHeaders = (not pool.left or pool.left > 0) and 0 or pool.leftUntil - now
  return math.max(0, byRate, byHeaders)
end

local function burden(account)
  local total = decay(pool.use, pool.usedAt)
  if total <= 0 then return 1 end
  local ratio = decay(account.use, account.usedAt) / account.weight * countAccounts() / total
  return math.min(constants.maxBurden, math.max(1, ratio))
end

local function start(id, name, tag, startedAt)
  local account = accountOf(name)
  local charged = account.mean or pool.mean or constants.initialMeanMs
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

local function enqueue(name, account, tag)
  pool.number = pool.number + 1
  account.place = string.format('%015d:', pool.number) .. name
  redis.call('ZADD', KEYS[3], string.format('%.17g', tag), account.place)
end
local function dequeue(account)
  if account.place then redis.call('ZREM', KEYS[3], account.place) end
  account.place = nil
end

local function learn(served, refused, inUse, startedAt)
  local slots = limit()
  if refused > 0 then
    if startedAt < pool.cutAt then return end
    pool.learned = math.max(1, math.min(slots, inUse) * (1 - constants.cut * refused))
    pool.cutAt = now
  elseif served and pool.learned and inUse >= slots then
    pool.learned = math.min(concurrent, pool.learned + constants.raise / pool.learned)
  end
end

-- Frees the slot or the place of an id, if it has one. Returns its account.
local function free(id, served, refused, remaining, validFor)
  redis.call('ZREM', KEYS[7], id)
  local member = redis.call('HGET', KEYS[5], id)
  if member then
    redis.call('HDEL', KEYS[5], id)
    redis.call('ZREM', KEYS[4], member)
    local name = string.match(member, '^%Z*')
    local account = accountOf(name)
    account.waiting = math.max(0, account.waiting - 1)
    if account.waiting == 0 then dequeue(account) end
    return name
  end
  local bytes = redis.call('HGET', KEYS[6], id)
  if not bytes then return nil end
  local inUse = redis.call('HLEN', KEYS[6])
  redis.call('HDEL', KEYS[6], id)
  local slot = cmsgpack.unpack(bytes)
  local account = accountOf(slot.account)
  local duration = math.max(0, now - slot.startedAt)
  local correction = (duration - slot.charged) * slot.price
  account.running = math.max(0, account.running - 1)
  account.finish = account.finish + correction
  if account.place then
    local tag = tonumber(redis.call('ZSCORE', KEYS[3], account.place) or pool.virtual)
    redis.call('ZADD', KEYS[3], string.format('%.17g', math.max(pool.virtual, tag + correction)), account.place)
  end
  account.use = decay(account.use, account.usedAt) + duration
  account.usedAt = now
  pool.use = decay(pool.use, pool.usedAt) + duration / account.weight
  pool.usedAt = now
  if served then
    account.mean = mix(account.mean, duration, constants.accountGain)
    pool.mean = mix(pool.mean, duration, constants.gain)
  end
  learn(served, refused, inUse, slot.startedAt)
  if remaining then
    pool.left = remaining
    pool.leftUntil = now + math.min(validFor, constants.maxRemainingMs)
  end
  return slot.account
end

-- Ids of an instance, including a dead one.
local function idsOf(name)
  return redis.call('ZRANGEBYLEX', KEYS[7], '[' .. name .. ':', '(' .. name .. ';')
end

local mine, others = {}, {}
local function grant()
  while timeUntilStart() == 0 do
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
      if account.waiting > 0 then enqueue(name, account, math.max(pool.virtual, account.finish)) end
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
    if count(KEYS[4]) == 0 and timeUntilStart() == 0 then
      start(id, name, math.max(pool.virtual, account.finish), now)
      state = 'running'
    elseif ARGV[15] ~= '1' or account.waiting >= maxOfAccount or count(KEYS[4]) >= maxWaiting then
      state = 'refused'
    else
      pool.number = pool.number + 1
      local member = name .. '\0' .. string.format('%015d', pool.number) .. '\0' .. id
      redis.call('ZADD', KEYS[4], 0, member)
      redis.call('HSET', KEYS[5], id, member)
      account.waiting = account.waiting + 1
      if not account.place then enqueue(name, account, math.max(pool.virtual, account.finish)) end
      state = 'waiting'
    end
  end
  if state ~= 'refused' then redis.call('ZADD', KEYS[7], 0, id) end
elseif op == 'end' then
  name = free(ARGV[12], ARGV[13] == '1', tonumber(ARGV[14]), tonumber(ARGV[15]), tonumber(ARGV[16]))
elseif now - pool.sweptAt >= constants.sweepIntervalMs then
  pool.sweptAt = now
  local all = redis.call('HGETALL', KEYS[2])
  for index = 1, #all, 2 do
    local account = cmsgpack.unpack(all[index + 1])
    local isIdle = account.running == 0 and account.waiting == 0 and account.finish <= pool.virtual
    if isIdle and decay(account.use, account.usedAt) < constants.minUse and not loaded[all[index]] then
      redis.call('HDEL', KEYS[2], all[index])
    end
  end
end
grant()

for loadedName, account in pairs(loaded) do
  account.isNew = nil
  redis.call('HSET', KEYS[2], loadedName, cmsgpack.pack(account))
end
redis.call('SET', KEYS[1], cmsgpack.pack(pool))
for _, key in ipairs(KEYS) do redis.call('PEXPIRE', key, constants.cutMemoryMs) end
for owner, ids in pairs(others) do
  redis.call('PUBLISH', channel .. owner, string.match(KEYS[1], '{(.*)}') .. ' ' .. table.concat(ids, ' '))
end

local account = name and accountOf(name) or { waiting = 0 }
local waitingOfAccount, waiting, nextStart = account.waiting, count(KEYS[4]), timeUntilStart()
local last = state == 'waiting' and waitingOfAccount or waitingOfAccount + 1
local otherAccounts = count(KEYS[3]) - (waitingOfAccount > 0 and 1 or 0)
local position = last + math.min(waiting - waitingOfAccount, last * otherAccounts)
local interval = math.max((pool.mean or constants.initialMeanMs) / limit(), requests == math.huge and 0 or period / requests)
local expected = math.max(position * interval, nextStart == math.huge and 0 or nextStart)
local reply = { state, position, string.format('%.3f', expected),
  waiting > 0 and nextStart ~= math.huge and string.format('%.3f', nextStart) or '', #mine }
for _, id in ipairs(mine) do reply[#reply + 1] = id end
if op == 'beat' then
  for _, id in ipairs(idsOf(instance)) do
    reply[#reply + 1] = id
    reply[#reply + 1] = redis.call('HEXISTS', KEYS[6], id)
  end
end
return reply
