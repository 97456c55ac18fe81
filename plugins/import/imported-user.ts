/** A customer of another gateway. */
export interface ImportedUser {
  /** Its id there, by which a second run recognises it. */
  readonly id: string;
  readonly name: string;
  readonly email?: string | undefined;
  /** When its paid access ends; undefined: it has none. Epoch ms. */
  readonly endsAt?: number | undefined;
}
