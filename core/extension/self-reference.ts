import { registerHooks } from 'node:module';

const ownModules: Readonly<Record<string, string>> = {
  daypass: '#core/index.ts',
  'daypass/testing': '#core/extension/testing/index.ts',
};

/**
 * Resolves the package self-reference `daypass` for all later imports, including those from files and packages outside the gateway's
 * folder. It always resolves to this gateway and never to an installed copy, because facts are compared by identity.
 */
export function resolveSelfReference(): void {
  registerHooks({
    resolve(specifier, context, next) {
      const module = ownModules[specifier];
      return module === undefined ? next(specifier, context) : next(module, { ...context, parentURL: import.meta.url });
    },
  });
}
