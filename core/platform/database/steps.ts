import type { EntityManager } from '@mikro-orm/postgresql';

/** Registers a plugin's steps with a database that has the plugin's tables. */
export type RegisterSteps = (configuration: EntityManager['config']) => void;

/**
 * Steps that a plugin runs inside core's transactions, to keep the rows of both consistent, such as money and the goods that it buys. The
 * interface of the steps states which locks are held, and which may be acquired.
 */
export class Steps<S extends object> {
  readonly #loaders = new WeakMap<EntityManager['config'], () => Promise<S>>();

  /** Creates the value of `PluginTables.steps`. */
  createRegistration(load: () => Promise<S>): RegisterSteps {
    return (configuration) => {
      if (this.#loaders.has(configuration)) throw new Error('two plugins register the same steps');
      this.#loaders.set(configuration, load);
    };
  }

  /** Returns the loader of the steps registered for the transaction's database; undefined without such a plugin. */
  findLoader({ config }: Pick<EntityManager, 'config'>): (() => Promise<S>) | undefined {
    return this.#loaders.get(config);
  }
}
