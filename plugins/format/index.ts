import type { Endpoint } from '#core/pipeline/exchange.ts';
import type { GatewayPlugin } from '#core/extension/plugin.ts';
import { getGeminiModel, listGeminiModels } from './gemini/models.ts';
import { describeMatrix, findUselessBackups } from './matrix.ts';
import { getModel, listModels } from './catalog-endpoints.ts';
import { registerResponsesStore } from './responses-store/register.ts';
import { formatStage } from './stage.ts';

/** Gemini names model and method in the path. Google's own clients say `/v1beta`, some `/v1`. */
function geminiCalls(root: string): Endpoint[] {
  const call = (name: string, method: string, isMetered: boolean): Endpoint => ({
    name,
    method: 'POST',
    path: `${root}/models/{id*}:${method}`,
    format: 'gemini',
    isMetered,
  });
  return [
    call('generate_content', 'generateContent', true),
    call('stream_generate_content', 'streamGenerateContent', true),
    call('gemini_count_tokens', 'countTokens', false),
  ];
}

/** Paths on which models are called. */
const modelCalls: readonly Endpoint[] = [
  { name: 'chat', method: 'POST', path: '/v1/chat/completions', format: 'chat', isMetered: true, isAliased: true },
  { name: 'responses', method: 'POST', path: '/v1/responses', format: 'responses', isMetered: true, isAliased: true },
  { name: 'messages', method: 'POST', path: '/v1/messages', format: 'messages', isMetered: true, isAliased: true },
  {
    name: 'count_tokens',
    method: 'POST',
    path: '/v1/messages/count_tokens',
    format: 'messages',
    isMetered: false,
    isAliased: true,
  },
  ...['/v1beta', '/v1'].flatMap(geminiCalls),
  {
    name: 'images',
    method: 'POST',
    path: '/v1/images/generations',
    format: 'images',
    isMetered: true,
    isAliased: true,
  },
];

/** The client formats: their paths, their stage, and the catalog as they list it. */
export const plugin: GatewayPlugin = {
  name: 'format',
  register(server) {
    server.gateway.stage(formatStage);
    registerResponsesStore(server);
    server.gateway.catalogReview({ problems: findUselessBackups, describe: describeMatrix });
    for (const endpoint of modelCalls) server.gateway.endpoint(endpoint);
    server.gateway.endpoint({
      name: 'list_gemini_models',
      method: 'GET',
      path: '/v1beta/models',
      dialect: 'google',
      isMetered: false,
      answer: () => listGeminiModels(server.host()),
    });
    server.gateway.endpoint({
      name: 'get_gemini_model',
      method: 'GET',
      path: '/v1beta/models/{id*}',
      dialect: 'google',
      isMetered: false,
      answer: (exchange) => getGeminiModel(server.host(), exchange),
    });
    server.gateway.endpoint({
      name: 'list_models',
      method: 'GET',
      path: '/v1/models',
      isMetered: false,
      isAliased: true,
      answer: () => listModels(server.host()),
    });
    server.gateway.endpoint({
      name: 'get_model',
      method: 'GET',
      path: '/v1/models/{id*}',
      isMetered: false,
      isAliased: true,
      answer: (exchange) => getModel(server.host(), exchange),
    });
  },
};
