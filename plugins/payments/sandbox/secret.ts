import type { Host } from '#core/gateway/host/host.ts';
import { readSecret } from '#core/platform/database/secret.ts';

interface Held {
  secret: string | undefined;
}

/** The secret that signs notifications, the same for all instances; undefined until it has been loaded. */
export function sandboxSecret({ keep }: Pick<Host, 'keep'>): Held {
  return keep<Held>('payments-sandbox-secret', () => ({ secret: undefined }));
}

/** Loads it; its first use makes it. */
export async function loadSecret(host: Pick<Host, 'keep' | 'database'>): Promise<string> {
  return (sandboxSecret(host).secret ??= await readSecret(host.database, 'payments-sandbox'));
}
