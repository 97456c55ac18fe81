import { registerHooks } from 'node:module';

/**
 * Lets whatever is imported from now on find this gateway as `daypass`, wherever it lies: a stage outside of the
 * gateway's folder or a package in node_modules has no other way to it. It is always this gateway, never a copy of it:
 * facts are known by identity.
 */
export function answerToOwnName(): void {
  registerHooks({
    resolve(specifier, context, next) {
      const isOurs = specifier === 'daypass' || specifier.startsWith('daypass/');
      return next(specifier, isOurs ? { ...context, parentURL: import.meta.url } : context);
    },
  });
}
