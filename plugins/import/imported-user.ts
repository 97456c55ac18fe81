export interface ImportedUser {
  /** Lets a second run recognize the user. */
  readonly id: string;
  readonly name: string;
  readonly email?: string | undefined;
  /** End of the paid access, epoch ms; undefined if there is none. */
  readonly endsAt?: number | undefined;
}
