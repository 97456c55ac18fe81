import type { EntityManager } from '@mikro-orm/postgresql';

/** Registers the steps of a plugin with a database that has its tables. */
export type KeepSteps = (configuration: EntityManager['config']) => void;

/**
 * Steps of a plugin within core's transactions, because rows of both must be consistent: money, and the goods that it buys. The interface
 * of the steps states which locks are held then, and which may be taken.
 */
export class Steps<S extends object> {
  readonly #loaders = new WeakMap<EntityManager['config'], () => Promise<S>>();

  /** Value for `steps` of the plugin's tables. */
  by(load: () => Promise<S>): KeepSteps {
    return (configuration) => {
      if (this.#loaders.has(configuration)) throw new Error('two plugins do the same steps');
      this.#loaders.set(configuration, load);
    };
  }

  /** Loader of the steps registered for the transaction's database; undefined if no plugin registered any. */
  of({ config }: Pick<EntityManager, 'config'>): (() => Promise<S>) | undefined {
    return this.#loaders.get(config);
  }
}
