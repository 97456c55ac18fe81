/** Settings with every member filled in. */
export type Settled<T> = { readonly [Name in keyof T]-?: Exclude<T[Name], undefined> };
