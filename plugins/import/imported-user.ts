/** A customer of another gateway. */
export interface ImportedUser {
  /** Id at the other gateway, which identifies the user in a second run. */
  readonly id: string;
  readonly name: string;
  readonly email?: string | undefined;
  /** End of the paid access, epoch ms; undefined if the user has none. */
  readonly endsAt?: number | undefined;
}
