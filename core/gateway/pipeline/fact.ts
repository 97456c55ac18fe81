/** A fact whose value's type does not matter: what stages list under `reads` and `writes`. */
export interface AnyFact {
  readonly name: string;
}

/**
 * A fact is a typed key by which one stage tells later ones what it found. Stages declare the facts they read and
 * write, so that a gateway.yaml in an impossible order is refused when it is loaded.
 */
export interface Fact<T> extends AnyFact {
  /** Exists only for the type checker: it ties the key to its value's type. */
  readonly _value?: (value: T) => T;
}

/** Defines a fact. The name is what gateway.yaml messages call it; the identity is the object. */
export function defineFact<T>(name: string): Fact<T> {
  return Object.freeze({ name });
}
