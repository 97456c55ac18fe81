import { readModelStates } from '#core/business/model-health/model-health.ts';
import type { GatewayPlugin } from '#core/extension/plugin.ts';
import { getGeminiModel, listGeminiModels, getModel, listModels } from './catalog/catalog-endpoints.ts';
import { describeAdaptations } from './catalog/describe-adaptations.ts';
import { documentEndpoints } from './catalog/documentation.ts';
import { describeMatrix, findUnservedKinds, findUselessBackups } from './catalog/matrix.ts';
import { describeCapabilities } from './catalog/model-capabilities.ts';
import { formats } from './formats/formats.ts';
import { registerSocket } from './socket/register.ts';
import { formatStage } from './stage.ts';
import { registerResponsesStore } from './state/responses-store/register.ts';

export const plugin: GatewayPlugin = {
  name: 'format',
  register(server) {
    const readStates = () => readModelStates(server.gateway, server.host());
    server.gateway.stage(formatStage);
    registerResponsesStore(server);
    registerSocket(server);
    server.gateway.catalogReview({
      problems: (catalog) => [...findUnservedKinds(catalog), ...findUselessBackups(catalog)],
      describe: (catalog) => [...describeMatrix(catalog), ...describeAdaptations(catalog)],
    });
    server.gateway.abilities(describeCapabilities);
    for (const format of formats) {
      server.gateway.format(format);
      for (const endpoint of documentEndpoints(format)) server.gateway.endpoint({ ...endpoint, format });
    }
    server.gateway.endpoint({
      name: 'list_gemini_models',
      documentation: { summary: 'format.docs.list_gemini_models' },
      method: 'GET',
      path: '/v1beta/models',
      dialect: 'google',
      isMetered: false,
      answer: (exchange) => listGeminiModels(server.host(), exchange),
    });
    server.gateway.endpoint({
      name: 'get_gemini_model',
      documentation: { summary: 'format.docs.get_gemini_model' },
      method: 'GET',
      path: '/v1beta/models/{id*}',
      dialect: 'google',
      isMetered: false,
      answer: (exchange) => getGeminiModel(server.host(), exchange),
    });
    server.gateway.endpoint({
      name: 'list_models',
      documentation: { summary: 'format.docs.list_models' },
      method: 'GET',
      path: '/v1/models',
      isMetered: false,
      isAliased: true,
      answer: async (exchange) => listModels(server.host(), exchange, await readStates()),
    });
    server.gateway.endpoint({
      name: 'get_model',
      documentation: { summary: 'format.docs.get_model' },
      method: 'GET',
      path: '/v1/models/{id*}',
      isMetered: false,
      isAliased: true,
      answer: async (exchange) => getModel(server.host(), exchange, await readStates()),
    });
  },
};
