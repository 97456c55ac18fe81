import { randomInt } from 'node:crypto';
import { type JsonObject, parseObject } from '#core/platform/json.ts';
import { readChat, type MadeCall } from './chat-answer.ts';
import { type Check, failed, faultOf, ok, profileOf, question, tokenBudget, unknown } from './check.ts';
import { colours, drawSquares } from './squares.ts';

const weather = {
  type: 'function',
  function: {
    name: 'get_weather',
    description: 'Returns the weather of a city now.',
    parameters: {
      type: 'object',
      properties: { city: { type: 'string', description: 'Name of the city.' } },
      required: ['city'],
      additionalProperties: false,
    },
  },
};

function hasCity({ arguments: text }: MadeCall, city: string): boolean {
  const answered = parseObject(text)?.['city'];
  return typeof answered === 'string' && answered.toLowerCase().includes(city.toLowerCase());
}

export const tool: Check = {
  name: 'tool',
  tries: 3,
  isDeclared: (route) => profileOf(route).capabilities.tools,
  cost: (route) => tokenBudget(route, 128) + 200,
  async run(route, ask) {
    const prompt = 'What is the weather in Jakarta now? Use the tool get_weather.';
    const reply = await ask(question(route, prompt, 128, { tools: [weather] }));
    const fault = faultOf(reply);
    if (fault !== undefined) return fault;
    const { calls, text } = readChat(reply);
    const call = calls.find(({ name }) => name === 'get_weather');
    if (call === undefined) return failed('no_call', text);
    return hasCity(call, 'Jakarta') ? ok : failed('wrong_arguments', call.arguments);
  },
};

export const twoTools: Check = {
  name: 'two_tools',
  tries: 3,
  isDeclared(route) {
    const { tools, parallel_tools } = profileOf(route).capabilities;
    return tools && parallel_tools;
  },
  cost: (route) => tokenBudget(route, 192) + 200,
  async run(route, ask) {
    const prompt =
      'What is the weather in Jakarta and in Bandung now? Use the tool get_weather for both cities at once, in parallel.';
    const reply = await ask(question(route, prompt, 192, { tools: [weather] }));
    const fault = faultOf(reply);
    if (fault !== undefined) return fault;
    const { calls, text } = readChat(reply);
    if (calls.length === 0) return failed('no_call', text);
    if (calls.length === 1) return failed('one_call', calls[0]?.arguments);
    const hasBoth = ['Jakarta', 'Bandung'].every((city) => calls.some((call) => hasCity(call, city)));
    return hasBoth ? ok : failed('wrong_arguments', calls.map((call) => call.arguments).join(' '));
  },
};

const islands = ['Java', 'Sumatra', 'Borneo'];
const citySchema = {
  type: 'object',
  properties: { city: { type: 'string' }, founded: { type: 'integer' }, island: { type: 'string', enum: islands } },
  required: ['city', 'founded', 'island'],
  additionalProperties: false,
};

/** Asks for prose while a schema is set, so an endpoint that ignores the schema is noticed by its prose. */
export const schema: Check = {
  name: 'schema',
  tries: 3,
  isDeclared: (route) => profileOf(route).capabilities.structured_output !== 'none',
  cost: (route) => tokenBudget(route, 192) + 200,
  async run(route, ask) {
    const isEnforced = profileOf(route).capabilities.structured_output === 'schema';
    const prompt = isEnforced
      ? 'Tell me about the city Jakarta.'
      : 'Tell me about the city Jakarta, as a JSON object with the members city, founded and island.';
    const format = isEnforced
      ? { type: 'json_schema', json_schema: { name: 'city', strict: true, schema: citySchema } }
      : { type: 'json_object' };
    const reply = await ask(question(route, prompt, 192, { response_format: format }));
    const fault = faultOf(reply);
    if (fault !== undefined) return fault;
    const { text } = readChat(reply);
    const answer = parseObject(text);
    if (answer === undefined) return failed('not_json', text);
    return !isEnforced || isCity(answer) ? ok : failed('not_schema', text);
  },
};

function isCity({ city, founded, island, ...others }: JsonObject): boolean {
  const isTyped = typeof city === 'string' && Number.isInteger(founded) && islands.includes(String(island));
  return isTyped && Object.keys(others).length === 0;
}

/** Shows one of 360 random pictures, so a model without vision can only guess. */
export const image: Check = {
  name: 'image',
  tries: 3,
  isDeclared: (route) => profileOf(route).capabilities.images,
  cost: (route) => tokenBudget(route, 64) + 2_000,
  async run(route, ask) {
    const names = pick(Object.keys(colours), 4);
    const prompt =
      `The image has four squares in two rows. Name their colours, the upper row first, from left to right, ` +
      `as four words out of: ${Object.keys(colours).join(', ')}.`;
    const url = `data:image/png;base64,${drawSquares(names).toString('base64')}`;
    const parts = [
      { type: 'text', text: prompt },
      { type: 'image_url', image_url: { url } },
    ];
    const reply = await ask(question(route, parts, 64));
    const fault = faultOf(reply);
    if (fault !== undefined) return fault;
    const { text } = readChat(reply);
    const seen = text.toLowerCase().match(new RegExp(Object.keys(colours).join('|'), 'g')) ?? [];
    return seen.join() === names.join() ? ok : failed('blind', `${names.join(', ')} shown; “${text.trim()}”`);
  },
};

function pick(names: readonly string[], count: number): string[] {
  const left = [...names];
  return Array.from({ length: count }, () => left.splice(randomInt(left.length), 1)[0] as string);
}

export const reasoning: Check = {
  name: 'reasoning',
  tries: 3,
  isDeclared(route) {
    const { capabilities, quirks } = profileOf(route);
    return capabilities.reasoning && (quirks.reasoning !== 'none' || quirks.inline_thinking);
  },
  cost: () => 4_200,
  async run(route, ask) {
    const prompt =
      'A farmer has 17 sheep. All but 9 run away. Then he buys twice as many as he has left, and sells a third of all. How many are left?';
    const reply = await ask(question(route, prompt, 64, { reasoning_effort: 'medium', max_tokens: 4_096 }));
    const fault = faultOf(reply);
    if (fault !== undefined) return fault;
    if (reply.notes.some((note) => note.includes('reasoning_effort')))
      return unknown('unclear', reply.notes.join('; '));
    return readChat(reply).reasoning !== '' || (reply.usage?.reasoning ?? 0) > 0 ? ok : failed('no_reasoning');
  },
};
