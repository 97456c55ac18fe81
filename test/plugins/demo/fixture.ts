import OpenAI from 'openai';
import { afterAll, beforeAll } from 'vitest';
import { type DemoUpstream, startDemoUpstream } from '../../../plugins/demo/server.ts';

/** A demo for one test file, with the SDK as its client. Nothing is retried. */
export class DemoFixture {
  #upstream: DemoUpstream | undefined;

  constructor() {
    beforeAll(async () => {
      this.#upstream = await startDemoUpstream({ delayFactor: 0 });
    });
    afterAll(() => this.#upstream?.[Symbol.asyncDispose]());
  }

  get url(): string {
    if (this.#upstream === undefined) throw new Error('the demo runs only during tests');
    return this.#upstream.url;
  }

  get openai(): OpenAI {
    return new OpenAI({ baseURL: `${this.url}/v1`, apiKey: 'none', maxRetries: 0 });
  }

  post(body: object | string, { path = '/v1/chat/completions', signal }: PostOptions = {}): Promise<Response> {
    return fetch(`${this.url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: typeof body === 'string' ? body : JSON.stringify(body),
      ...(signal && { signal }),
    });
  }
}

interface PostOptions {
  readonly path?: string;
  readonly signal?: AbortSignal;
}

/** The parameters of a tool. */
export const weather = {
  type: 'object',
  properties: { city: { type: 'string' }, unit: { type: 'string', enum: ['celsius', 'fahrenheit'] } },
  required: ['city', 'unit'],
  additionalProperties: false,
} as const;
