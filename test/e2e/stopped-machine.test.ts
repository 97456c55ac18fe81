import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createUpstream, type FaultyUpstream, type ScriptedResponse } from '../support/faulty-upstream.ts';
import { createGatewayHome, type GatewayHome, type GatewayProcess, yamlFor } from '../support/gateway.ts';

// A whole process is stopped and continued here.
vi.setConfig({ testTimeout: 60_000 });

/** Seconds of its timeouts: longer than a busy machine takes to get all requests to the upstream. */
const timeout = 4;
/** Ms for which the process is stopped: longer than its timeouts. */
const stop = 5_000;
const count = 12; // of each kind, more than open a breaker

const pause = (milliseconds: number) => new Promise<void>((resolve) => setTimeout(resolve, milliseconds));

let upstream: FaultyUpstream;
let home: GatewayHome;
let gateway: GatewayProcess;
let over: AbortController;
let stopped: PromiseWithResolvers<void>;
beforeEach(async () => {
  over = new AbortController();
  stopped = Promise.withResolvers();
  upstream = await createUpstream((request, response) =>
    request.json()['stream'] === true ? streamOn(response) : answerLate(response),
  );
  const yaml = yamlFor(`${upstream.url}/v1`)
    .replace(/idle_timeout: \d+/, `idle_timeout: ${timeout}`)
    .replace(/first_byte_timeout: \d+/, `first_byte_timeout: ${timeout}`);
  home = await createGatewayHome(yaml);
  gateway = await home.start();
});
afterEach(async () => {
  await home[Symbol.asyncDispose]();
  await upstream[Symbol.asyncDispose]();
});

const chunk = (content: string, finish: string | null = null) => ({
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'model-there',
  choices: [{ index: 0, delta: { content }, finish_reason: finish }],
});

/** Sends words until the test is over. */
async function streamOn(response: ScriptedResponse): Promise<void> {
  response.sse();
  while (!over.signal.aborted) {
    await response.event(chunk('word '));
    await pause(50);
  }
  await response.event(chunk('', 'stop'));
  await response.event('[DONE]');
  response.end();
}

/** Answers while the gateway is stopped. */
async function answerLate(response: ScriptedResponse): Promise<void> {
  await stopped.promise;
  const message = { role: 'assistant', content: 'late' };
  response.json(200, {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1,
    model: 'model-there',
    choices: [{ index: 0, message, finish_reason: 'stop' }],
  });
}

async function ask(isStream: boolean): Promise<string> {
  const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${home.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      model: 'test',
      stream: isStream,
      messages: [{ role: 'user', content: `${Math.random()}` }],
    }),
  });
  return answer.text();
}

it('a machine that was stopped loses no request and takes no route out of service', async () => {
  const streams = Array.from({ length: count }, () => ask(true));
  await upstream.waitForRequest(count);
  const whole = Array.from({ length: count }, () => ask(false));
  await upstream.waitForRequest(2 * count);
  gateway.process.kill('SIGSTOP');
  await pause(stop / 2);
  stopped.resolve();
  await pause(stop / 2);
  gateway.process.kill('SIGCONT');
  const answers = await Promise.all(whole);
  over.abort();
  const texts = await Promise.all(streams);
  expect(answers.filter((text) => !text.includes('"late"'))).toEqual([]);
  expect(texts.filter((text) => !text.endsWith('data: [DONE]\n\n') || text.includes('"error"'))).toEqual([]);
  expect(upstream.requests).toHaveLength(2 * count);
  expect(await ask(false)).toContain('"late"');
});
