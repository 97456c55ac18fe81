import { collectSecrets } from '#core/config/file/hide-secrets.ts';
import type { Config } from '#core/extension/validation/validate-config.ts';
import type { Registry } from '#core/extension/registry.ts';

const minLength = 6; // shorter values are parts of ordinary words
const replacement = '***';

/**
 * Removes secrets from texts, because a server may echo its input. Secrets are values that the schemas of gateway.yaml mark,
 * passwords in URLs, and environment variables with the name of a secret.
 */
export function secretRemover(environment: NodeJS.ProcessEnv, configured: readonly string[]): (text: string) => string {
  const named = Object.entries(environment).flatMap(([name, value = '']) =>
    /key|secret|token|password|passwd|credential/i.test(name) ? [value] : passwordsIn(value),
  );
  const secrets = [...new Set([...named, ...configured, ...configured.flatMap(passwordsIn)])]
    .filter(({ length }) => length >= minLength)
    .toSorted((first, second) => second.length - first.length);
  return (text) =>
    secrets
      .reduce((cleaned, secret) => cleaned.replaceAll(secret, replacement), text)
      .replace(/:\/\/[^/\s@]*@/g, `://${replacement}@`);
}

/** Returns the values that the schemas of gateway.yaml mark as secret, including those from files, which the environment lacks. */
export function configuredSecrets(config: Config, registry: Registry): string[] {
  return [...registry.sections.values()].flatMap((section) => collectSecrets(config.get(section), section.schema));
}

function passwordsIn(value: string): string[] {
  const password = URL.parse(value)?.password ?? '';
  return password === '' ? [] : [password, decodeURIComponent(password)];
}
