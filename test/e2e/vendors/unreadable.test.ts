import { afterAll, beforeAll, expect, it } from 'vitest';
import { startVendors, type VendorGateway } from './fixture.ts';

let gateway: VendorGateway;
beforeAll(async () => {
  gateway = await startVendors(['openai/gpt-4.1', 'deepseek/deepseek-v4', 'anthropic/claude-sonnet-4-6']);
});
afterAll(() => gateway[Symbol.asyncDispose]());

const said = { role: 'user', content: 'Hi' };
const strange = (type: string) => [{ type, hologram: 'x' }];

it.each([
  [
    'messages',
    { max_tokens: 9, messages: [said, { role: 'user', content: strange('hologram') }] },
    'messages[1].content[0]',
  ],
  ['responses', { input: [{ role: 'user', content: strange('input_hologram') }] }, 'input[0].content[0]'],
  ['responses', { input: [{ type: 'hologram' }] }, 'input[0]'],
  ['chat/completions', { messages: [{ role: 'user', content: strange('hologram') }] }, 'messages[0].content[0]'],
])('%s that ask for nothing but an unknown part are refused where they are translated', async (path, body, part) => {
  const to = path === 'chat/completions' ? 'anthropic/claude-sonnet-4-6' : 'deepseek/deepseek-v4';
  const { status, path: reached, answer } = await gateway.ask(to, path, body);
  expect([status, reached]).toEqual([400, '']);
  expect(answer).toContain('hologram');
  if (path !== 'messages') expect(answer).toContain(part);
});

it('an unknown part among others is left out', async () => {
  const messages = [{ role: 'user', content: [...strange('hologram'), { type: 'text', text: 'Hi' }] }];
  const { status, body, notes } = await gateway.ask('deepseek/deepseek-v4', 'messages', { max_tokens: 9, messages });
  expect([status, body['messages']]).toEqual([200, [{ role: 'user', content: 'Hi' }]]);
  expect(notes).toContain('dropped content block hologram');
});

it('an unknown part reaches the vendor of the format', async () => {
  const messages = [{ role: 'user', content: strange('hologram') }];
  expect((await gateway.ask('openai/gpt-4.1', 'chat/completions', { messages })).body['messages']).toEqual(messages);
});

it('an unknown role is refused by a translated route, and forwarded to a vendor of the format', async () => {
  const messages = [{ role: 'narrator', content: 'Hi' }];
  const refused = await gateway.ask('anthropic/claude-sonnet-4-6', 'chat/completions', { messages });
  expect([refused.status, refused.path]).toEqual([400, '']);
  expect(refused.answer).toContain('messages[0].role');
  expect((await gateway.ask('openai/gpt-4.1', 'chat/completions', { messages })).body['messages']).toEqual(messages);
});

it.each([[{}], [{ role: 5 }]])('a message with the role %j is refused everywhere', async (role) => {
  const { status, answer } = await gateway.ask('openai/gpt-4.1', 'chat/completions', {
    messages: [said, { content: 'Hi', ...role }],
  });
  expect(status).toBe(400);
  expect(answer).toContain('`messages[1].role` must be a string');
});
