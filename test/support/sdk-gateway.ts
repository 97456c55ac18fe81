import type Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { type Aimock, startAimock, upstreamKey } from './aimock.ts';
import { startGateway, type TestGateway, wholePipeline } from './gateway.ts';

/** The mock's upstream formats, and the path of a call. The model `on-FORMAT` is routed there. */
export const upstreamPaths = {
  chat: '/v1/chat/completions',
  responses: '/v1/responses',
  messages: '/v1/messages',
  gemini: '/v1beta/models/model-there:generateContent',
} as const;

export type UpstreamFormat = keyof typeof upstreamPaths;

export const upstreamFormats = Object.keys(upstreamPaths) as UpstreamFormat[];

export interface SdkGateway extends AsyncDisposable {
  readonly gateway: TestGateway;
  readonly mock: Aimock;
  readonly openai: OpenAI; // without retries, so that tests see the first answer
  anthropic(sdk: typeof Anthropic): Anthropic;
}

export async function startSdkGateway(): Promise<SdkGateway> {
  const mock = await startAimock();
  const gateway = await startGateway({ yaml: sdkYaml(mock.url) });
  return {
    gateway,
    mock,
    openai: new OpenAI({ apiKey: gateway.key, baseURL: `${gateway.url}/v1`, maxRetries: 0 }),
    anthropic: (sdk) => new sdk({ apiKey: gateway.key, baseURL: gateway.url, maxRetries: 0 }),
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]();
      await mock[Symbol.asyncDispose]();
    },
  };
}

function formatModel(id: string, route: string): string {
  return `  ${id}: { routes: [${route}/model-there] }`;
}

/** Tests that affect keys and breakers use separate models: `throttled`, `refused`, `broken`. */
function sdkYaml(url: string): string {
  const upstream = (name: string, format: string, path = '/v1/') =>
    `  ${name}: { format: ${format}, base_url: "${url}/${path.split('/')[1]}", api_keys: [${upstreamKey}] }`;
  const disposable = ['throttled', 'refused', 'broken'];
  return [
    wholePipeline,
    'upstreams:',
    ...upstreamFormats.map((format) => upstream(format, format, upstreamPaths[format])),
    upstream('images', 'images'),
    ...disposable.map((name) => upstream(name, '[chat, responses, messages]')),
    'models:',
    ...upstreamFormats.map((format) => formatModel(`on-${format}`, format)),
    formatModel('vendor/with-slash', 'chat'),
    formatModel('painter', 'images'),
    ...disposable.map((name) => formatModel(name, name)),
    '',
  ].join('\n');
}
