import type { EntityManager } from '@mikro-orm/postgresql';

/** Makes the steps of a plugin known to a database that has its tables. */
export type KeepSteps = (configuration: EntityManager['config']) => void;

/**
 * Steps of a plugin within core's own transactions, because rows of both must be consistent: money, and the goods that it buys.
 * The interface of the steps states the locks that are held then, and those that may be taken.
 */
export class Steps<S extends object> {
  readonly #loaders = new WeakMap<EntityManager['config'], () => Promise<S>>();

  /** For `steps` of the plugin's tables. */
  by(load: () => Promise<S>): KeepSteps {
    return (configuration) => {
      if (this.#loaders.has(configuration)) throw new Error('two plugins do the same steps');
      this.#loaders.set(configuration, load);
    };
  }

  /** Loads those of the database of a transaction; undefined where no plugin does them. */
  of({ config }: Pick<EntityManager, 'config'>): (() => Promise<S>) | undefined {
    return this.#loaders.get(config);
  }
}
