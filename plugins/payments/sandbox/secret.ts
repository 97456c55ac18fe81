import type { Host } from '#core/gateway/host/host.ts';
import { readSecret } from '#core/platform/database/secret.ts';

interface Held {
  secret: string | undefined;
}

/** Returns the secret that signs notifications, shared by all instances; undefined until loaded. */
export function sandboxSecret({ keep }: Pick<Host, 'keep'>): Held {
  return keep<Held>('payments-sandbox-secret', () => ({ secret: undefined }));
}

/** Loads the secret, and creates it on first use. */
export async function loadSecret(host: Pick<Host, 'keep' | 'database'>): Promise<string> {
  return (sandboxSecret(host).secret ??= await readSecret(host.database, 'payments-sandbox'));
}
