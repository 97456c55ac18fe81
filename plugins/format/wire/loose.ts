import type { JsonValue } from '#core/platform/json.ts';

/** Names of the members that any of these types declares. */
type Declared<T> = T extends unknown ? keyof { [K in keyof T as string extends K ? never : K]: true } & string : never;

/**
 * An object as a client or a vendor has sent it: it may have any of the members that the vendor's SDK declares, of any
 * content until that is checked. A plain object can be given for it; the compiler then knows the names.
 *
 * @template T declarations of the SDK
 * @template Others names that they do not have, and some vendor or client sends
 */
export type Loose<T, Others extends string = never> = {
  readonly [Name in Declared<T> | Others]?: JsonValue | undefined;
};

/** The same object where its members are changed in place. */
export type Editable<T> = { -readonly [Name in keyof T]: T[Name] };
