import type { Server } from '@hapi/hapi';
import { defineTexts } from '#core/web/texts/texts.ts';
import { sandboxCommand } from './command.ts';
import { createSandboxPage } from './page.ts';
import { sandboxProvider } from './provider.ts';
import { loadSecret } from './secret.ts';
import en from './texts/en.json' with { type: 'json' };
import id from './texts/id.json' with { type: 'json' };

export function registerSandbox(server: Server): void {
  const { gateway } = server;
  gateway.tables({
    name: 'payments_sandbox',
    entities: async () => Object.values(await import('./entities.ts')),
    migrations: new URL('./migrations/', import.meta.url),
  });
  gateway.paymentProvider(sandboxProvider);
  gateway.texts(defineTexts({ en, id }));
  gateway.page(createSandboxPage(server));
  gateway.command(sandboxCommand);
  gateway.onConfigured(async (_server, host) => {
    await loadSecret(host); // in production too, because a reload may turn it off
  });
}
