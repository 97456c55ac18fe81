/** A customer of another gateway. */
export interface ImportedUser {
  /** Id at the other gateway, which lets a second run recognize the user. */
  readonly id: string;
  readonly name: string;
  readonly email?: string | undefined;
  /** When the paid access ends, epoch ms; undefined if there is none. */
  readonly endsAt?: number | undefined;
}
