-- The world of a script: Lua 5.1 as scripts for Redis expect it, on top of 5.4, and nothing else. Runs once per state with the
-- mark of a failed function and the functions of the server; what it returns stays at the bottom of the stack. Source of scripts has
-- been made 5.4 before it is compiled: whole numbers are floats in it, "a .. b" is __text(a)..__text(b), "a % b" is __mod(a, b).
--
-- lua.P1  Nothing that may run for long in C is handed out (lua.L7): it is the server's own function, which looks at the clock, or works on so much
--     only, or is a loop here. Tables are read raw in libraries, as 5.1 does: nothing they say of their length is believed.
-- lua.P2  Nothing of a script runs in a handler of errors or a hook: there nobody could stop it.
local FAILED, server = ...
local type, select, next, rawget, rawset, error, pcall, xpcall, setmetatable, getmetatable =
  type, select, next, rawget, rawset, error, pcall, xpcall, setmetatable, getmetatable
local tostring, tonumber, pairs, ipairs, load = tostring, tonumber, pairs, ipairs, load
local format, gsub, find, sub, match, concat = string.format, string.gsub, string.find, string.sub, string.match, table.concat
local lower, bytesOf, numberOf, byte, insert, remove = string.lower, string.pack, string.unpack, string.byte, table.insert, table.remove
local gmatch = string.gmatch
local floor, mathtype, unpack, getinfo, rawlen, move = math.floor, math.type, table.unpack, debug.getinfo, rawlen, table.move
local INF = math.huge

-- Small whole numbers by themselves: to look here tells one from any other value without a call, which costs several times as much.
local SMALL = {}
for i = 0, 255 do SMALL[i] = i end
for i = -64, -1 do SMALL[i] = i end

-- Errors ------------------------------------------------------------------------------------------------------------------

-- Where the script was, seen from the function that fails in it. Level 2 is the prelude: whoever asks.
local function place()
  for level = 3, 20 do
    local at = getinfo(level, 'Sl')
    if not at then return nil end
    if at.what ~= 'C' and at.source ~= '=lib' then return at end
  end
end

local function positioned(text)
  local at = place()
  if at then return format('%s:%d: %s', at.short_src, at.currentline, text) end
  return text
end

-- What 5.4 says, as 5.1 said it.
local OLDER_BYTES_MAX = 1000 -- what the library says is shorter, and patterns take time
local function older(text)
  if type(text) ~= 'string' or #text > OLDER_BYTES_MAX then return text end
  if find(text, '^lib:%d+: ') then text = positioned((gsub(text, '^lib:%d+: ', ''))) end
  if find(text, 'attempt to ', 1, true) then text = gsub(text, "attempt to ([%a ]-) an? (%a+) value %((%a+) '([^']*)'%)", "attempt to %1 %3 '%4' (a %2 value)") end
  if find(text, 'near <eof>', 1, true) then text = gsub(text, 'near <eof>', "near '<eof>'") end
  return text
end

local function fail(text) error(positioned(text), 0) end

local locked = setmetatable({}, { __mode = 'k' }) -- tables that cannot be changed, and what they show

local function handler(err)
  local at = place()
  if type(err) ~= 'table' then err = { err = 'ERR ' .. tostring(older(err)) } end
  if at and not locked[err] and rawget(err, 'line') == nil then -- lua.P2: raw
    rawset(err, 'source', at.source)
    rawset(err, 'line', at.currentline)
  end
  return err
end

-- A function of the server gives its results, or the mark, a text and whether the text wants the place in front.
local function settle(first, ...)
  if first ~= FAILED then return first, ... end
  local text, placed = ...
  if type(text) == 'string' and placed then text = positioned(text) end
  error(text, 0)
end

local function native(name)
  local raw = server[name]
  return function(...) return settle(raw(...)) end
end

-- The same for one that gives one result.
local function nativeOne(name)
  local raw = server[name]
  return function(...)
    local result, text, placed = raw(...)
    if result ~= FAILED then return result end
    settle(result, text, placed)
  end
end

-- Tables that cannot be changed ---------------------------------------------------------------------------------------------

local function readonly() fail('Attempt to modify a readonly table') end

local function lock(content, missing)
  local shown = setmetatable({}, {
    __index = content,
    __newindex = readonly,
    __metatable = false,
    __len = function() return #content end,
  })
  if missing then setmetatable(content, { __index = missing }) end
  locked[shown] = content
  return shown
end

-- Numbers and texts -----------------------------------------------------------------------------------------------------------

-- As %.14g spells it; a whole number of few digits is spelt faster as what it is.
local function spell(value)
  if value < 1e14 and value > -1e14 and value // 1 == value and value ~= 0 then return (value | 0) .. '' end
  return format('%.14g', value)
end

local function text(value)
  if mathtype(value) then return spell(value) end
  return tostring(value)
end

-- math.type has nothing to say of a text, and so costs less than type.
local function asText(value)
  if mathtype(value) then return spell(value) end
  return value
end

-- A text ends where C ends it.
local function upToZero(value)
  local zero = find(value, '\0', 1, true)
  return zero and sub(value, 1, zero - 1) or value
end

-- What strtod knows and 5.4 leaves out.
local NAMED = { inf = INF, infinity = INF, ['+inf'] = INF, ['+infinity'] = INF, ['-inf'] = -INF, ['-infinity'] = -INF, nan = -(0 / 0), ['+nan'] = -(0 / 0), ['-nan'] = 0 / 0 }

local function number(value, base)
  if base == nil then
    local result = tonumber(value)
    if result and (result == value or result ~= result or #value < 18) then -- a longer text may be hexadecimal beyond 64 bits
      if result == 0 and result ~= value and find(value, '^%s*%-') then return -0.0 end
      return result - 0.0
    end
  end
  local kind = type(value)
  if base ~= nil and base ~= 10 then
    if kind == 'number' then value = text(value) elseif kind == 'string' then value = upToZero(value) end
    if base == 16 and type(value) == 'string' then value = gsub(value, '^(%s*[-+]?)0[xX](%x)', '%1%2') end
    local result = tonumber(value, floor(base))
    if result and #value > 12 then -- as strtoul: what has no room in 64 bits is the most they hold
      local most = 0.0
      for digit in gmatch(lower(value), '%w') do most = most * base + (tonumber(digit, 36) or 0) end
      if most >= 0x1p64 then return 0x1p64 end
    end
    return result and (result < 0 and result + 0x1p64 or result - 0.0) -- a float; + would make 0 of -0
  end
  if kind == 'string' then
    value = upToZero(value)
    if find(value, '^%s*[-+]?0[xX]%x+%s*$') then value = match(value, '%S+') .. 'p0' end -- or it would be an integer of 64 bits
  end
  local result = tonumber(value)
  if result == 0 and kind == 'string' and find(value, '^%s*%-') then return -0.0 end
  if result == nil and kind == 'string' then
    local word = match(value, '^%s*(%S+)%s*$')
    return word and #word < 10 and NAMED[lower(word)] or nil
  end
  return result and result - 0.0
end

-- 5.1 takes the quotient, where 5.4 takes the remainder that is exact; of small whole numbers both are the same.
local mod
function mod(a, b)
  local x, y = SMALL[a], SMALL[b]
  if x and y and y ~= 0 then return x % y + 0.0 end
  if mathtype(a) == 'float' and (y or mathtype(b) == 'float') then return a - (a // b) * b end
  if type(a) == 'number' and type(b) == 'number' then return mod(a + 0.0, b + 0.0) end
  return a % b
end

local function whole(value)
  if type(value) == 'string' then value = number(value) end
  if type(value) ~= 'number' or mathtype(value) == 'integer' then return value end
  if value ~= value or value >= 0x1p63 or value < -0x1p63 then return math.mininteger end
  return value >= 0 and floor(value) or -floor(-value)
end

-- As C makes a signed and an unsigned number of 64 bits, and one of 32, of it.
local signed64 = whole
local function int(value)
  local bits = whole(value) & 0xFFFFFFFF
  return bits < 0x80000000 and bits or bits - 0x100000000
end
local function unsigned64(value)
  if value >= 0x1p64 then return 0 end
  if value >= 0x1p63 then return floor(value - 0x1p63) + math.mininteger end
  return signed64(value)
end
local function unsignedText(value)
  local tens = (value >> 1) // 5
  return format('%d%d', tens, value - tens * 10)
end

-- Texts that spell numbers take part in arithmetic as floats.
local strings = getmetatable('')
for name, step in pairs {
  __add = function(a, b) return a + b end, __sub = function(a, b) return a - b end, __mul = function(a, b) return a * b end,
  __div = function(a, b) return a / b end, __mod = mod, __pow = function(a, b) return a ^ b end,
} do
  strings[name] = function(a, b)
    local one, other = number(a), number(b)
    if one == nil or other == nil then
      local wrong = one == nil and a or b
      error(positioned('attempt to perform arithmetic on a ' .. type(wrong) .. ' value'), 0)
    end
    return step(one, other)
  end
end
strings.__unm = function(a)
  local one = number(a)
  if one == nil then error(positioned('attempt to perform arithmetic on a string value'), 0) end
  return -one
end
strings.__idiv, strings.__metatable = nil, false

-- An argument that ought to be a number.
local function numeric(value)
  if type(value) == 'string' then return number(value) or value end
  return value
end

-- The globals ---------------------------------------------------------------------------------------------------------------

local globals = { _VERSION = 'Lua 5.1' }

local function wrong(value, at, name, expected)
  fail(format("bad argument #%d to '%s' (%s expected, got %s)", at, name, expected, value == nil and at > 1 and 'no value' or type(value)))
end
local function textual(value, at, name)
  if type(value) == 'string' then return value end
  if mathtype(value) then return spell(value) end
  wrong(value, at, name, 'string')
end
-- A number that stands for a place, and one that stands for so many.
local function counted(value, at, name)
  if SMALL[value] then return value end
  local wanted = numeric(value)
  if type(wanted) ~= 'number' then wrong(value, at, name, 'number') end
  return whole(wanted)
end
local function small(value, at, name) return SMALL[value] or int(counted(value, at, name)) end

globals.assert, globals.rawequal, globals.type = assert, rawequal, type
globals.next = function(t, key) return next(locked[t] or t, key) end
local each = globals.next
globals.pairs = function(t)
  if type(t) ~= 'table' then wrong(t, 1, 'pairs', 'table') end
  if locked[t] then return each, t, nil end
  return next, t, nil
end
local function nextItem(t, i)
  i = i + 1
  local value = rawget(t, i)
  if value ~= nil then return i, value end
end
globals.ipairs = function(t)
  if type(t) ~= 'table' then wrong(t, 1, 'ipairs', 'table') end
  if getmetatable(t) == nil then return ipairs(t) end
  return nextItem, t, 0
end
globals.tostring = function(...)
  local value = ...
  if value == nil and select('#', ...) == 0 then fail("bad argument #1 to 'tostring' (value expected)") end
  return text(value)
end
globals.select = function(n, ...)
  if SMALL[n] or n == '#' then return select(n, ...) end
  return select(small(n, 1, 'select'), ...)
end
globals.rawget = function(t, key) return rawget(locked[t] or t, key) end
globals.tonumber = function(...)
  local value, base = ...
  local kind = type(value)
  if base == nil then
    if value == nil and select('#', ...) == 0 then fail("bad argument #1 to 'tonumber' (value expected)") end
    return number(value)
  else
    local wanted = numeric(base)
    if type(wanted) ~= 'number' then fail(format("bad argument #2 to 'tonumber' (number expected, got %s)", type(base))) end
    base = int(wanted)
  end
  if kind ~= 'number' and kind ~= 'string' then
    if base ~= 10 then wrong(value, 1, 'tonumber', 'string') end
    return nil
  end
  return number(value, base)
end

globals.error = function(err, level)
  level = level and small(level, 2, 'error') or 1
  if type(err) == 'number' then err = text(err) end
  if type(err) ~= 'string' or level <= 0 then error(err, 0) end
  error(err, level + 1)
end

globals.rawset = function(t, key, value)
  if locked[t] then error('Attempt to modify a readonly table', 0) end
  return rawset(t, key, value)
end

-- A table without a finalizer, which 5.1 had not for tables.
globals.setmetatable = function(t, meta)
  if locked[t] then error('Attempt to modify a readonly table', 0) end
  if type(meta) ~= 'table' or (rawget(meta, '__gc') == nil and rawget(meta, '__mode') == nil) then return setmetatable(t, meta) end
  local finalizer = rawget(meta, '__gc')
  rawset(meta, '__gc', nil)
  local ok, result = pcall(setmetatable, t, meta)
  rawset(meta, '__gc', finalizer)
  if not ok then error(result, 0) end
  return result
end

local ofTexts -- what shows the metatable of texts
globals.getmetatable = function(value)
  if type(value) == 'string' then return ofTexts end
  return getmetatable(value)
end

local function caught(ok, ...)
  if ok then return true, ... end
  local err = ...
  if type(err) == 'table' and not locked[err] then
    local said = rawget(err, 'err')
    if type(said) == 'string' then return false, said end
  end
  return false, older(err)
end
globals.pcall = function(f, ...) return caught(pcall(f, ...)) end
-- lua.P2: after the error, not in it. One that fails is called with its own error, as often as the C stack of 5.1 would let it.
local HANDLERS_MAX = 200
local function handled(onError, ok, ...)
  if ok then return true, ... end
  local err = older((...))
  for _ = 1, HANDLERS_MAX do
    local isDone, result = pcall(onError, err)
    if isDone then return false, result end
    err = older(result)
  end
  return false, 'error in error handling'
end
globals.xpcall = function(...)
  local f, onError = ...
  if select('#', ...) < 2 then fail("bad argument #2 to 'xpcall' (value expected)") end
  return handled(onError, pcall(f))
end
globals.unpack = function(t, i, j)
  if type(t) ~= 'table' then wrong(t, 1, 'unpack', 'table') end
  t = locked[t] or t
  local first, last = i and small(i, 2, 'unpack') or 1, j and small(j, 3, 'unpack') or rawlen(t)
  if last - first >= 8000 or last - first < -0x1p53 then fail('too many results to unpack') end
  if getmetatable(t) == nil then return unpack(t, first, last) end
  local copy = {}
  for i = first, last do copy[i - first + 1] = rawget(t, i) end
  return unpack(copy, 1, last - first + 1)
end

globals.collectgarbage = function(what)
  if what == 'count' then return collectgarbage('count') end
  if what == 'step' then return false end
  return 0
end
globals.gcinfo = function() return floor(collectgarbage('count')) end

local environment, library
local translate = server.translate
local function compile(source, name, target)
  local ok, result, no51 = pcall(settle, translate(source))
  if not ok then return nil, result end
  local f, problem = load(result, name or source, 't', target)
  if not f then return nil, older(problem) end
  if no51 ~= '' then return nil, format('[string "%s"]', match(sub(source, 1, 40), '^[^\n]*')) .. no51 end
  return f
end
globals.loadstring = function(source, name)
  if type(source) ~= 'string' then fail("bad argument #1 to 'loadstring' (string expected, got " .. type(source) .. ')') end
  return compile(source, name, environment)
end
globals.load = function(source, name)
  if type(source) ~= 'function' then wrong(source, 1, 'load', 'function') end
  local parts = {}
  while true do
    local part = source()
    if part == nil or part == '' then break end
    parts[#parts + 1] = part
  end
  return compile(concat(parts), name or '=(load)', environment)
end

-- Libraries of 5.1 ------------------------------------------------------------------------------------------------------------

local str = {}
for _, name in ipairs { 'len', 'lower', 'reverse', 'upper' } do
  local f = string[name]
  str[name] = function(s)
    if s == nil then fail("bad argument #1 to '" .. name .. "' (string expected, got no value)") end
    return f(textual(s, 1, name))
  end
end
for _, name in ipairs { 'find', 'match' } do
  local f = native('text_' .. name)
  str[name] = function(s, pattern, from, plain)
    s, pattern = textual(s, 1, name), textual(pattern, 2, name)
    from = from and counted(from, 3, name) or 1
    if from < 0 then from = #s + from + 1 end
    return f(s, pattern, from, plain)
  end
end
local nextMatch, seek, replace = native('text_next'), native('text_seek'), native('text_replace')
str.gmatch = function(s, pattern)
  s, pattern = textual(s, 1, 'gmatch'), textual(pattern, 2, 'gmatch')
  local at = 0
  local function step(next, ...)
    if next == nil then return nil end
    at = next
    return ...
  end
  return function()
    if at > #s then return nil end
    return step(nextMatch(s, pattern, at))
  end
end
str.gfind = str.gmatch

-- What a function or a table says of a match: a text, or nil for the match itself.
local function answer(by, isFunction, first, last, capture, ...)
  if first == nil then return nil end
  local value
  if isFunction then value = by(capture, ...) else value = by[capture] end
  if mathtype(value) then value = spell(value) end
  if value and type(value) ~= 'string' then fail('invalid replacement value (a ' .. type(value) .. ')') end
  return first, last, value
end
local function replaceBy(s, pattern, by, most)
  local parts, count, at, copied, isAnchored = {}, 0, 0, 0, byte(pattern) == 94
  while count < most and at <= #s do
    local first, last, value = answer(by, type(by) == 'function', seek(s, pattern, at))
    if not first then break end
    count = count + 1
    if value then
      parts[#parts + 1] = sub(s, copied + 1 | 0, first | 0)
      parts[#parts + 1] = value
      copied = last
    end
    at = last > first and last or last + 1
    if isAnchored then break end
  end
  if #parts == 0 then return s, count + 0.0 end
  parts[#parts + 1] = sub(s, copied + 1 | 0)
  return concat(parts), count + 0.0
end
str.gsub = function(s, pattern, by, most)
  s, pattern = textual(s, 1, 'gsub'), textual(pattern, 2, 'gsub')
  local kind = type(by)
  most = most and small(most, 4, 'gsub') or #s + 1
  if kind == 'number' then by, kind = spell(by), 'string' end
  if kind == 'string' then return replace(s, pattern, by, most) end
  if kind ~= 'function' and kind ~= 'table' then fail("bad argument #3 to 'gsub' (string/function/table expected)") end
  return replaceBy(s, pattern, by, most)
end
str.rep = function(s, n)
  if s == nil then fail("bad argument #1 to 'rep' (string expected, got no value)") end
  s, n = textual(s, 1, 'rep'), small(n, 2, 'rep')
  return s == '' and '' or string.rep(s, n) -- lua.P1: so many times nothing takes time too
end
str.sub = function(s, i, j)
  return sub(textual(s, 1, 'sub'), counted(i, 2, 'sub'), not j and -1 or counted(j, 3, 'sub'))
end
str.byte = function(s, i, j)
  local from = not i and 1 or counted(i, 2, 'byte')
  return byte(textual(s, 1, 'byte'), from, not j and from or counted(j, 3, 'byte'))
end
str.char = function(...)
  local codes, count = { ... }, select('#', ...)
  for i = 1, count do
    local code = small(codes[i], i, 'char')
    if code < 0 or code > 255 then fail(format("bad argument #%d to 'char' (invalid value)", i)) end
    codes[i] = code
  end
  return string.char(unpack(codes, 1, count))
end
local WHOLE = { d = true, i = true, x = true, X = true, o = true, u = true }
local function spelt(value, at)
  local kind = type(value)
  if kind ~= 'string' and kind ~= 'number' then fail(format("bad argument #%d to 'format' (string expected, got %s)", at + 1, kind)) end
  return text(value)
end
local QUOTED = { ['"'] = '\\"', ['\\'] = '\\\\', ['\n'] = '\\\n', ['\r'] = '\\r', ['\0'] = '\\000' }
local function formatted(pattern, ...)
  pattern = textual(pattern, 1, 'format')
  local arguments, count, at = { ... }, select('#', ...), 0
  return (gsub(pattern, '%%([-+ #0]*%d*%.?%d*)(.?)', function(flags, kind)
    if kind == '%' and flags == '' then return '%' end
    at = at + 1
    local value = arguments[at]
    if at > count then fail(format("bad argument #%d to 'format' (no value)", at + 1)) end
    if #flags > 8 or find(flags, '%d%d%d') then fail("invalid format (width or precision too long)") end
    if kind == 's' then
      value = spelt(value, at)
      if #value >= 100 and not find(flags, '.', 1, true) then return value end
      value = upToZero(value)
    elseif kind == 'q' then
      value = spelt(value, at)
      return '"' .. gsub(value, '["\\\n\r\0]', QUOTED) .. '"'
    elseif kind == 'c' then
      value = number(value) or value
      if type(value) == 'number' then value = value < 0x1p31 and value >= -0x1p31 and whole(value) & 0xFF or 0 end
    elseif WHOLE[kind] then
      value = number(value) or value
      if type(value) == 'number' then value = (kind == 'd' or kind == 'i') and signed64(value) or unsigned64(value) end
      if kind == 'u' then
        if type(value) == 'number' and value < 0 and find(flags, '^-?%d*$') and not find(flags, '^0') then value, kind = unsignedText(value), 's' else kind = 'd' end
      end
    elseif not find('eEfgG', kind, 1, true) then fail("invalid option '%" .. kind .. "' to 'format'")
    else value = numeric(value) end
    local ok, result = pcall(format, '%' .. flags .. kind, value)
    if not ok then fail((gsub(result, "#2 to '[^']*'", '#' .. (at + 1) .. " to 'format'"))) end
    return kind == 'c' and upToZero(result) or result
  end))
end

-- Most patterns 5.4 fills in as 5.1 does once the values are what it expects. What these ask for is kept, for so many patterns.
local FORMATS_MAX, FORMAT_BYTES_MAX, KINDS_MAX = 128, 64, 4
local formats, formatCount = {}, 0
local function learn(pattern)
  if type(pattern) ~= 'string' or #pattern > FORMAT_BYTES_MAX then return false end
  local kinds = {}
  local rest = gsub(pattern, '%%([-+ #0]*%d*%.?%d*)(.?)', function(flags, kind)
    if kind == '%' and flags == '' then return '' end
    if kind == 's' then kinds.mayEnd = true end
    local isEasy = kind == 's' and flags == '' or (kind == 'd' or kind == 'x') and find(flags, '^0?%d?%d?$')
      or (kind == 'f' or kind == 'g') and find(flags, '^%d?%d?%.?%d?%d?$')
    if not isEasy then return nil end
    kinds[#kinds + 1] = kind
    return ''
  end)
  if #kinds == 0 or #kinds > KINDS_MAX or find(rest, '[%%\0]') then kinds = false end
  if formatCount == FORMATS_MAX then formats, formatCount = {}, 0 end
  formats[pattern], formatCount = kinds, formatCount + 1
  return kinds
end

-- What 5.4 takes for the value; nil if that is not so easy.
local function simple(kind, value)
  if kind == 's' then
    local given = type(value)
    return given == 'string' and value or given == 'number' and spell(value) or nil
  end
  if SMALL[value] then return value end
  if mathtype(value) == nil then return nil end
  if kind == 'd' then return signed64(value) end
  if kind == 'x' then return unsigned64(value) end
  return value
end

str.format = function(pattern, ...)
  local kinds = formats[pattern]
  if kinds == nil then kinds = learn(pattern) end
  if not kinds then return formatted(pattern, ...) end
  local count, a, b, c, d = #kinds, ...
  a, b = simple(kinds[1], a), count < 2 or simple(kinds[2], b)
  if count > 2 then c, d = simple(kinds[3], c), count < 4 or simple(kinds[4], d) else c, d = true, true end
  if a == nil or b == nil or c == nil or d == nil then return formatted(pattern, ...) end
  local result = format(pattern, a, b, c, d)
  if kinds.mayEnd and find(result, '\0', 1, true) then return formatted(pattern, ...) end -- a text ends there
  return result
end
strings.__index = lock(str)
ofTexts = lock { __index = strings.__index }

local tab = {}

-- The table to change or to read raw, and its length.
local function rawTable(t, name, isChanged)
  if type(t) ~= 'table' then wrong(t, 1, name, 'table') end
  if locked[t] then
    if isChanged then fail('Attempt to modify a readonly table') end
    t = locked[t]
  end
  return t, rawlen(t)
end
tab.getn = function(t)
  local _, count = rawTable(t, 'getn')
  return count + 0.0
end
tab.setn = function() fail("'setn' is obsolete") end
-- The library's own comparisons, and functions in C, would sort for long and unseen.
local SORTED_AT_ONCE_MAX = 64
local function isLess(a, b) return a < b end
tab.sort = function(t, less)
  local _, count = rawTable(t, 'sort')
  if count > 1 then rawTable(t, 'sort', true) end
  if less ~= nil and type(less) ~= 'function' then fail("bad argument #2 to 'sort' (function expected, got " .. type(less) .. ')') end
  if less and getinfo(less, 'S').what == 'C' then
    local slow = less
    less = function(a, b) return slow(a, b) end
  end
  if not less and count > SORTED_AT_ONCE_MAX then less = isLess end
  if getmetatable(t) == nil then return table.sort(t, less) end
  local copy = {}
  for i = 1, count do copy[i] = rawget(t, i) end
  table.sort(copy, less)
  for i = 1, count do rawset(t, i, copy[i]) end
end
tab.maxn = function(t)
  local most = 0
  for key in globals.pairs(t) do if type(key) == 'number' and key > most then most = key end end
  return most
end
tab.foreach = function(t, f)
  for key, value in globals.pairs(t) do
    local result = f(key, value)
    if result ~= nil then return result end
  end
end
tab.foreachi = function(t, f)
  local _, count = rawTable(t, 'foreachi')
  for i = 1, count do
    local result = f(i + 0.0, rawget(t, i))
    if result ~= nil then return result end
  end
end
local concatenated = nativeOne('table_concat')
tab.concat = function(t, separator, i, j)
  local result = concatenated(t, separator, i, j)
  if result then return result end
  local from, count = rawTable(t, 'concat')
  separator = separator == nil and '' or textual(separator, 2, 'concat')
  local first, last = i and small(i, 3, 'concat') or 1, j and small(j, 4, 'concat') or count
  local copied = {}
  for at = first, last do
    local value = rawget(from, at)
    if mathtype(value) then value = spell(value) end
    if type(value) ~= 'string' then fail(format("invalid value (%s) at index %d in table for 'concat'", type(value), at)) end
    copied[#copied + 1] = value
  end
  return concat(copied, separator)
end
local MOVED_AT_ONCE_MAX = 4096
tab.remove = function(t, at)
  local _, count = rawTable(t, 'remove')
  at = not at and count or small(at, 2, 'remove')
  if at < 1 or at > count then return end
  rawTable(t, 'remove', true)
  if count - at < MOVED_AT_ONCE_MAX and getmetatable(t) == nil then return remove(t, at) end
  local value = rawget(t, at)
  if getmetatable(t) == nil then
    for from = at + 1, count, MOVED_AT_ONCE_MAX do
      local to = from + MOVED_AT_ONCE_MAX - 1
      move(t, from, to < count and to or count, from - 1)
    end
  else
    for i = at, count - 1 do rawset(t, i, rawget(t, i + 1)) end
  end
  rawset(t, count, nil)
  return value
end
tab.insert = function(t, ...)
  local _, count = rawTable(t, 'insert', true)
  local given = select('#', ...)
  if given == 1 then
    rawset(t, count + 1, (...))
    return
  end
  if given ~= 2 then fail("wrong number of arguments to 'insert'") end
  local at, value = ...
  at, count = small(at, 2, 'insert'), count + 1
  if at > count then count = at end
  for i = count, at + 1, -1 do rawset(t, i, rawget(t, i - 1)) end
  rawset(t, at, value)
end

local function measured(value, at, name)
  if mathtype(value) then return value end
  local wanted = numeric(value)
  if type(wanted) ~= 'number' then wrong(value, at, name, 'number') end
  return wanted
end
local mat = { huge = math.huge, pi = math.pi }
for _, name in ipairs { 'acos', 'asin', 'cos', 'deg', 'exp', 'rad', 'sin', 'sqrt', 'tan', 'atan', 'log' } do
  local f = math[name]
  mat[name] = function(x) return f(measured(x, 1, name)) end
end
for _, name in ipairs { 'max', 'min' } do
  local f, isMax = math[name], name == 'max'
  mat[name] = function(...)
    local a, b = ...
    local count = select('#', ...)
    if count == 2 and mathtype(a) == 'float' and mathtype(b) == 'float' then
      if isMax and a < b or not isMax and b < a then return b end
      return a
    end
    local all = { ... }
    if count == 0 then fail("bad argument #1 to '" .. name .. "' (number expected, got no value)") end
    for i = 1, count do all[i] = measured(all[i], i, name) - 0.0 end
    return f(unpack(all, 1, count))
  end
end
mat.abs = function(x) return math.abs(measured(x, 1, 'abs') + 0.0) end
mat.atan2 = function(y, x) return math.atan(measured(y, 1, 'atan2'), measured(x, 2, 'atan2')) end
mat.ceil = function(x) return -(-measured(x, 1, 'ceil') // 1.0) end
mat.floor = function(x)
  if mathtype(x) == 'float' then return x // 1.0 end
  return measured(x, 1, 'floor') // 1.0
end
mat.fmod = function(x, y) return math.fmod(measured(x, 1, 'fmod') + 0.0, measured(y, 2, 'fmod') + 0.0) end
mat.mod = mat.fmod
mat.modf = function(x)
  x = measured(x, 1, 'modf')
  local i, f = math.modf(x)
  if i == 0 and (x < 0 or 1 / x < 0) then return -0.0, f end
  return i - 0.0, f
end
mat.pow = function(x, y) return x ^ y end
mat.log10 = function(x) return math.log(numeric(x), 10) end
mat.cosh = function(x) return (math.exp(x) + math.exp(-x)) / 2 end
mat.sinh = function(x) return (math.exp(x) - math.exp(-x)) / 2 end
mat.tanh = function(x)
  if x > 20 then return 1.0 elseif x < -20 then return -1.0 end
  local one, other = math.exp(x), math.exp(-x)
  return (one - other) / (one + other)
end
mat.frexp = function(x)
  x = numeric(x)
  if x == 0 or x ~= x or x == INF or x == -INF then return x + 0.0, 0.0 end
  local exponent = floor(math.log(x < 0 and -x or x, 2)) + 1
  local fraction = x / 2.0 ^ exponent
  if fraction >= 1 or fraction <= -1 then fraction, exponent = fraction / 2, exponent + 1 end
  if fraction < 0.5 and fraction > -0.5 then fraction, exponent = fraction * 2, exponent - 1 end
  return fraction, exponent + 0.0
end
mat.ldexp = function(x, exponent)
  local e = small(exponent, 2, 'ldexp')
  x = measured(x, 1, 'ldexp')
  if x == 0 or x == INF or x == -INF then return x end
  e = e > 2200 and 2200 or e < -2200 and -2200 or e
  return x * 2.0 ^ (e // 2) * 2.0 ^ (e - e // 2) -- in halves: the power alone may be too large
end
mat.random = native('random')
mat.randomseed = native('randomseed')

-- Each coroutine counts its own steps: whoever goes on is told to the server, and who made many looks at the clock.
local co = {}
local enter, back, resume = native('enter'), native('back'), coroutine.resume
local function threaded(value, name)
  if type(value) ~= 'thread' then fail("bad argument #1 to '" .. name .. "' (coroutine expected)") end
  return value
end
local function created(f, name)
  if type(f) ~= 'function' then fail("bad argument #1 to '" .. name .. "' (Lua function expected)") end
  return coroutine.create(f)
end
co.create = function(f) return created(f, 'create') end
co.status = function(thread) return coroutine.status(threaded(thread, 'status')) end
co.yield = function(...)
  local _, isMain = coroutine.running()
  if isMain then error('attempt to yield across metamethod/C-call boundary', 0) end
  return coroutine.yield(...)
end
co.resume = function(thread, ...)
  threaded(thread, 'resume')
  enter(thread)
  return back(resume(thread, ...))
end
local function passed(ok, ...)
  if ok then return ... end
  local err, at = (...), getinfo(2, 'Sl') -- who called
  if type(err) == 'string' then
    err = older(err)
    if at and at.what ~= 'C' and at.source ~= '=lib' then err = format('%s:%d: ', at.short_src, at.currentline) .. err end
  end
  error(err, 0)
end
co.wrap = function(f)
  local thread = created(f, 'wrap')
  return function(...) return passed(co.resume(thread, ...)) end
end
co.running = function()
  local thread, isMain = coroutine.running()
  return not isMain and thread or nil
end

local bit = {}
local function bits(value, at, name)
  if mathtype(value) == 'float' and value < 0x1p51 and value > -0x1p51 then return (value + 0x1.8p52 - 0x1.8p52) & 0xFFFFFFFF end -- rounded to a whole number
  value = numeric(value)
  if type(value) ~= 'number' then fail(format("bad argument #%d to '%s' (number expected, got %s)", at, name, value == nil and 'no value' or type(value))) end
  if mathtype(value) == 'integer' then return value & 0xFFFFFFFF end
  if not (value < 0x1p51 and value > -0x1p51) then return numberOf('<I4', bytesOf('<d', value + 0x1.8p52)) end -- what is left of it by adding 2^52 + 2^51
  return (value + 0x1.8p52 - 0x1.8p52) & 0xFFFFFFFF
end
local function signed(value)
  value = value & 0xFFFFFFFF
  return (value >= 0x80000000 and value - 0x100000000 or value) + 0.0
end
bit.tobit = function(x) return signed(bits(x, 1, 'tobit')) end
bit.bnot = function(x) return signed(~bits(x, 1, 'bnot')) end
local function folded(name, step)
  return function(first, ...)
    local result, count = SMALL[first] or bits(first, 1, name), select('#', ...)
    if count == 1 then
      local second = ...
      return signed(step(result, SMALL[second] or bits(second, 2, name)))
    end
    for i = 1, count do result = step(result, bits((select(i, ...)), i + 1, name)) end
    return signed(result)
  end
end
bit.band = folded('band', function(a, b) return a & b end)
bit.bor = folded('bor', function(a, b) return a | b end)
bit.bxor = folded('bxor', function(a, b) return a ~ b end)
bit.lshift = function(x, n) return signed((SMALL[x] or bits(x, 1, 'lshift')) << ((SMALL[n] or bits(n, 2, 'lshift')) & 31)) end
bit.rshift = function(x, n) return signed(bits(x, 1, 'rshift') >> ((SMALL[n] or bits(n, 2, 'rshift')) & 31)) end
bit.arshift = function(x, n)
  local value, by = bits(x, 1, 'arshift'), bits(n, 2, 'arshift') & 31
  if value >= 0x80000000 then return signed((value >> by) | ~(0xFFFFFFFF >> by)) end
  return signed(value >> by)
end
bit.rol = function(x, n)
  local value, by = bits(x, 1, 'rol'), bits(n, 2, 'rol') & 31
  return signed((value << by) | (value >> (32 - by)))
end
bit.ror = function(x, n)
  local value, by = bits(x, 1, 'ror'), bits(n, 2, 'ror') & 31
  return signed((value >> by) | (value << (32 - by)))
end
bit.bswap = function(x)
  local value = bits(x, 1, 'bswap')
  return signed(((value & 0xFF) << 24) | ((value & 0xFF00) << 8) | ((value >> 8) & 0xFF00) | (value >> 24))
end
bit.tohex = function(x, n)
  local value, digits = bits(x, 1, 'tohex'), n and whole(n) or 8
  local pattern = '%0' .. 8 .. 'x'
  if digits < 0 then digits, pattern = -digits, '%08X' end
  if digits > 8 then digits = 8 end
  return digits == 0 and '' or sub(format(pattern, value), -digits)
end

-- What the server gives -------------------------------------------------------------------------------------------------------

local rawcall, rawpcall = server.call, server.pcall
local redis = {
  call = function(...)
    local first, err = rawcall(...)
    if err == nil then return first end
    error(err, 0)
  end,
  pcall = function(...)
    local first, err = rawpcall(...)
    if err == nil then return first end
    if first == FAILED then error(err, 0) end
    return err
  end,
  LOG_DEBUG = 0, LOG_VERBOSE = 1, LOG_NOTICE = 2, LOG_WARNING = 3,
  REPL_ALL = 3, REPL_AOF = 1, REPL_SLAVE = 2, REPL_REPLICA = 2, REPL_NONE = 0,
  REDIS_VERSION = server.version, REDIS_VERSION_NUM = server.versionNumber,
  replicate_commands = function() return true end,
}
for _, name in ipairs { 'error_reply', 'status_reply', 'log', 'setresp', 'acl_check_cmd', 'set_repl', 'breakpoint', 'debug' } do
  redis[name] = native(name)
end
redis.sha1hex = nativeOne('sha1hex')
redis.REDIS_VERSION, redis.REDIS_VERSION_NUM = redis.REDIS_VERSION(), redis.REDIS_VERSION_NUM()

local function group(...)
  local made = {}
  for _, name in ipairs { ... } do
    local short = match(name, '_(.*)$')
    made[short] = native(name)
  end
  return made
end
local json = group('cjson_encode_sparse_array', 'cjson_encode_max_depth', 'cjson_decode_max_depth',
  'cjson_encode_number_precision', 'cjson_encode_keep_buffer', 'cjson_encode_invalid_numbers', 'cjson_decode_invalid_numbers',
  'cjson_decode_array_with_array_mt')
json.encode, json.decode = nativeOne('cjson_encode'), nativeOne('cjson_decode')
json.null, json._NAME, json._VERSION = server.null(), 'cjson', '2.1.0'
json.new = function() return globals.cjson end
local pack = group('cmsgpack_unpack', 'cmsgpack_unpack_one', 'cmsgpack_unpack_limit')
pack.pack = nativeOne('cmsgpack_pack')
pack._NAME, pack._VERSION, pack._DESCRIPTION = 'cmsgpack', 'lua-cmsgpack 0.4.0', 'MessagePack C implementation for Lua'
local struct = { pack = nativeOne('struct_pack'), unpack = native('struct_unpack'), size = nativeOne('struct_size') }

globals.string, globals.table, globals.math, globals.coroutine = strings.__index, lock(tab), lock(mat), lock(co)
globals.bit, globals.cjson, globals.cmsgpack, globals.struct = lock(bit), lock(json), lock(pack), lock(struct)
globals.os = lock { clock = os.clock }
globals.__text, globals.__mod, globals.__same, globals.__three = asText, mod, function(...) return ... end, function(a, b, c) return a, b, c end

local function nothing(_, name)
  error(positioned("Script attempted to access nonexistent global variable '" .. text(name) .. "'"), 0)
end

-- Scripts and functions see the same but for the table of the server; libraries are told while they are loaded.
local shared = globals
local lib = {}
for key, value in pairs(shared) do lib[key] = value end
local own = {}
for key, value in pairs(redis) do own[key] = value end
own.register_function = native('register_function')
shared.redis = lock(redis)
lib.redis = lock(own)
environment = lock(shared, nothing)
library = lock(lib, nothing)
shared._G, lib._G = environment, library
shared.server, lib.server = shared.redis, lib.redis

return shared, handler, 'KEYS', 'ARGV', environment, library
