export interface ImportedUser {
  /** Id at the other gateway, by which a second run recognizes the user. */
  readonly id: string;
  readonly name: string;
  readonly email?: string | undefined;
  /** End of the paid access, epoch ms; undefined if there is none. */
  readonly endsAt?: number | undefined;
}
