import { randomInt } from 'node:crypto';
import { type JsonObject, parseObject } from '#core/platform/json.ts';
import { readChat, type ReplyCall } from './chat-reply.ts';
import {
  type Check,
  failed,
  evaluateFault,
  ok,
  chatProfileOf,
  buildQuestion,
  computeTokenBudget,
  unknown,
} from './check.ts';
import { colours, drawSquares } from './squares.ts';

const weatherTool = {
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

function hasCity({ arguments: text }: ReplyCall, city: string): boolean {
  const requestedCity = parseObject(text)?.['city'];
  return typeof requestedCity === 'string' && requestedCity.toLowerCase().includes(city.toLowerCase());
}

export const tool: Check = {
  name: 'tool',
  maxTries: 3,
  isDeclared: (route) => chatProfileOf(route).capabilities.tools,
  cost: (route) => computeTokenBudget(route, 128) + 200,
  async run(route, ask) {
    const prompt = 'What is the weather in Jakarta now? Use the tool get_weather.';
    const reply = await ask(buildQuestion(route, prompt, 128, { tools: [weatherTool] }));
    const fault = evaluateFault(reply);
    if (fault !== undefined) return fault;
    const { calls, text } = readChat(reply);
    const call = calls.find(({ name }) => name === 'get_weather');
    if (call === undefined) return failed('no_call', text);
    return hasCity(call, 'Jakarta') ? ok : failed('wrong_arguments', call.arguments);
  },
};

export const twoTools: Check = {
  name: 'two_tools',
  maxTries: 3,
  isDeclared(route) {
    const { tools, parallel_tools } = chatProfileOf(route).capabilities;
    return tools && parallel_tools;
  },
  cost: (route) => computeTokenBudget(route, 192) + 200,
  async run(route, ask) {
    const prompt =
      'What is the weather in Jakarta and in Bandung now? Use the tool get_weather for both cities at once, in parallel.';
    const reply = await ask(buildQuestion(route, prompt, 192, { tools: [weatherTool] }));
    const fault = evaluateFault(reply);
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

export const schema: Check = {
  name: 'schema',
  maxTries: 3,
  isDeclared: (route) => chatProfileOf(route).capabilities.structured_output !== 'none',
  cost: (route) => computeTokenBudget(route, 192) + 200,
  async run(route, ask) {
    const isEnforced = chatProfileOf(route).capabilities.structured_output === 'schema';
    // An endpoint that ignores the schema answers the first prompt in prose.
    const prompt = isEnforced
      ? 'Tell me about the city Jakarta.'
      : 'Tell me about the city Jakarta, as a JSON object with the members city, founded and island.';
    const format = isEnforced
      ? { type: 'json_schema', json_schema: { name: 'city', strict: true, schema: citySchema } }
      : { type: 'json_object' };
    const reply = await ask(buildQuestion(route, prompt, 192, { response_format: format }));
    const fault = evaluateFault(reply);
    if (fault !== undefined) return fault;
    const { text } = readChat(reply);
    const city = parseObject(text);
    if (city === undefined) return failed('not_json', text);
    return !isEnforced || isCity(city) ? ok : failed('not_schema', text);
  },
};

function isCity({ city, founded, island, ...extraMembers }: JsonObject): boolean {
  const hasExpectedTypes = typeof city === 'string' && Number.isInteger(founded) && islands.includes(String(island));
  return hasExpectedTypes && Object.keys(extraMembers).length === 0;
}

export const image: Check = {
  name: 'image',
  maxTries: 3,
  isDeclared: (route) => chatProfileOf(route).capabilities.images,
  cost: (route) => computeTokenBudget(route, 64) + 2_000,
  async run(route, ask) {
    // One of 360 pictures, so a model without vision can only guess.
    const shownColours = pickRandomNames(Object.keys(colours), 4);
    const prompt =
      `The image has four squares in two rows. Name their colours, the upper row first, from left to right, ` +
      `as four words out of: ${Object.keys(colours).join(', ')}.`;
    const url = `data:image/png;base64,${(await drawSquares(shownColours)).toString('base64')}`;
    const parts = [
      { type: 'text', text: prompt },
      { type: 'image_url', image_url: { url } },
    ];
    const reply = await ask(buildQuestion(route, parts, 64));
    const fault = evaluateFault(reply);
    if (fault !== undefined) return fault;
    const { text } = readChat(reply);
    const namedColours = text.toLowerCase().match(new RegExp(Object.keys(colours).join('|'), 'g')) ?? [];
    return namedColours.join() === shownColours.join()
      ? ok
      : failed('blind', `${shownColours.join(', ')} shown; “${text.trim()}”`);
  },
};

function pickRandomNames(names: readonly string[], count: number): string[] {
  const remainingNames = [...names];
  return Array.from({ length: count }, () => remainingNames.splice(randomInt(remainingNames.length), 1)[0] as string);
}

export const reasoning: Check = {
  name: 'reasoning',
  maxTries: 3,
  isDeclared(route) {
    const { capabilities, quirks } = chatProfileOf(route);
    return capabilities.reasoning && (quirks.reasoning !== 'none' || quirks.inline_thinking);
  },
  cost: () => 4_200,
  async run(route, ask) {
    const prompt =
      'A farmer has 17 sheep. All but 9 run away. Then he buys twice as many as he has left, and sells a third of all. How many are left?';
    const reply = await ask(buildQuestion(route, prompt, 64, { reasoning_effort: 'medium', max_tokens: 4_096 }));
    const fault = evaluateFault(reply);
    if (fault !== undefined) return fault;
    if (reply.notes.some((note) => note.includes('reasoning_effort')))
      return unknown('unclear', reply.notes.join('; '));
    return readChat(reply).reasoning !== '' || (reply.usage?.reasoning ?? 0) > 0 ? ok : failed('no_reasoning');
  },
};
