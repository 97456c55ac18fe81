import type { Request, ResponseToolkit, Server } from '@hapi/hapi';
import type { GatewayPlugin } from '#core/extension/plugin.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { hasSetup } from '#core/web/pages/setup-command.ts';
import { Translator } from '#core/web/texts/translator.ts';
import { describeApi, type DescribedApi } from './describe-api.ts';
import { writeLlmsText } from './llms.ts';
import { writeOpenApi } from './openapi.ts';
import { createDocsPage, writeDocsSamples } from './page.ts';

/** API documentation for people and for programs. */
export const plugin: GatewayPlugin = {
  name: 'docs',
  register(server) {
    const { gateway } = server;
    gateway.page(createDocsPage(gateway));
    gateway.onConfigured(routeDocuments);
  },
};

/** Adds the routes of the documents for programs. They are in English, and generated once per configuration for all clients. */
function routeDocuments(server: Server): void {
  const { gateway } = server;
  const t = new Translator(gateway.pageTexts).in('en');
  const serve = (path: string, type: string, write: (api: DescribedApi, host: Host) => string) => {
    const texts = new WeakMap<Host, string>();
    const readText = (host: Host): string => {
      const text = texts.get(host) ?? write(describeApi(gateway.endpoints, host, t), host);
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
    return JSON.stringify(writeOpenApi(api, service, model), null, 1);
  });
  serve('/llms.txt', 'text/plain; charset=utf-8', (api, host) =>
    writeLlmsText(api, host.service, host.catalog, { samples: writeDocsSamples(host), hasSetup: hasSetup(gateway) }),
  );
}
