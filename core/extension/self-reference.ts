import { registerHooks } from 'node:module';

const modules: Readonly<Record<string, string>> = {
  daypass: '#core/index.ts',
  'daypass/testing': '#core/extension/testing/index.ts',
};

/**
 * Resolves the package self-reference `daypass` for all later imports, wherever the importing module is: files and packages
 * outside of the gateway's folder could not resolve it otherwise. It always resolves to this gateway and never to a copy, because
 * facts are compared by identity.
 */
export function resolveSelfReference(): void {
  registerHooks({
    resolve(specifier, context, next) {
      const own = modules[specifier];
      return own === undefined ? next(specifier, context) : next(own, { ...context, parentURL: import.meta.url });
    },
  });
}
