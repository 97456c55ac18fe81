import { registerHooks } from 'node:module';

/**
 * Resolves the package self-reference `daypass` for all later imports, wherever the importing module is: files and packages
 * outside of the gateway's folder could not resolve it otherwise. It always is this gateway and never a copy, because facts
 * are compared by identity.
 */
export function resolveSelfReference(): void {
  registerHooks({
    resolve(specifier, context, next) {
      const isOurs = specifier === 'daypass' || specifier.startsWith('daypass/');
      return next(specifier, isOurs ? { ...context, parentURL: import.meta.url } : context);
    },
  });
}
