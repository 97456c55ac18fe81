import type { Request, ResponseToolkit, Server } from '@hapi/hapi';
import { getConfiguredProvider } from '#core/business/payments/connections.ts';
import type { GatewayPlugin } from '#core/extension/plugin.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { hasSetup } from '#core/web/pages/setup-command.ts';
import { Translator } from '#core/web/texts/translator.ts';
import { describeApi, type DescribedApi } from './describe-api.ts';
import { renderLlmsText } from './llms.ts';
import { createOpenApiDocument } from './openapi.ts';
import { createDocsPage, renderDocsSamples } from './page.ts';

/** API documentation for people and programs. */
export const plugin: GatewayPlugin = {
  name: 'docs',
  register(server) {
    const { gateway } = server;
    gateway.page(createDocsPage(gateway));
    gateway.onConfigured(addDocumentRoutes);
  },
};

/** Programs read these documents, so they are in English. Each is rendered once per configuration. */
function addDocumentRoutes(server: Server): void {
  const { gateway } = server;
  const t = new Translator(gateway.pageTexts).in('en');
  const serve = (path: string, type: string, render: (api: DescribedApi, host: Host) => string) => {
    const texts = new WeakMap<Host, string>();
    const readText = (host: Host): string => {
      const text = texts.get(host) ?? render(describeApi(gateway.endpoints, host, t), host);
      texts.set(host, text);
      return text;
    };
    server.route({
      method: 'GET',
      path,
      options: { auth: false, state: { parse: false } },
      handler(_request: Request, h: ResponseToolkit) {
        return h
          .response(readText(server.host()))
          .type(type)
          .header('cache-control', 'no-cache')
          .header('access-control-allow-origin', '*');
      },
    });
  };
  serve('/openapi.json', 'application/json', (api, { service, catalog }) => {
    const model = catalog.models[0]?.publicName ?? `${service.prefix}/MODEL`;
    return JSON.stringify(createOpenApiDocument(api, service, model), null, 1);
  });
  serve('/llms.txt', 'text/plain; charset=utf-8', (api, host) =>
    renderLlmsText(api, host.service, host.catalog, {
      samples: renderDocsSamples(host),
      hasSetup: hasSetup(gateway),
      isSelling: getConfiguredProvider(host) !== undefined,
    }),
  );
}
