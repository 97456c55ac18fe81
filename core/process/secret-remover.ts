import { collectSecrets } from '#core/config/file/hide-secrets.ts';
import type { Registry } from '#core/extension/registry.ts';
import type { Config } from '#core/extension/validation/validate-config.ts';

const minLength = 6; // shorter values may be part of ordinary words
const replacement = '***';

/**
 * Returns a function that removes secrets from texts, because servers may echo what they were sent. Secrets are values that the schemas of
 * gateway.yaml mark as secret, passwords in URLs, and environment variables whose name suggests a secret.
 */
export function createSecretRemover(
  environment: NodeJS.ProcessEnv,
  configuredSecrets: readonly string[],
): (text: string) => string {
  const environmentSecrets = Object.entries(environment).flatMap(([name, value = '']) =>
    /key|secret|token|password|passwd|credential/i.test(name) ? [value] : findPasswords(value),
  );
  const secrets = [
    ...new Set([...environmentSecrets, ...configuredSecrets, ...configuredSecrets.flatMap(findPasswords)]),
  ]
    .filter(({ length }) => length >= minLength)
    .toSorted((first, second) => second.length - first.length);
  return (text) =>
    secrets
      .reduce((redacted, secret) => redacted.replaceAll(secret, replacement), text)
      .replace(/:\/\/[^/\s@]*@/g, `://${replacement}@`);
}

/** Includes secrets from secret files. */
export function listConfiguredSecrets(config: Config, registry: Registry): string[] {
  return [...registry.sections.values()].flatMap((section) => collectSecrets(config.get(section), section.schema));
}

function findPasswords(value: string): string[] {
  const password = URL.parse(value)?.password ?? '';
  return password === '' ? [] : [password, decodeURIComponent(password)];
}
