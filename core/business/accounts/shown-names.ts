/** Name of a deleted account. */
export const deletedName = 'Deleted account';

/** `NAME <ADDRESS>`, for operators. */
export function fullName(name: string, email: string | null | undefined): string {
  return email === null || email === undefined ? name : `${name} <${email}>`;
}

/** Display names of the providers that @hapi/bell supports. A list, so that checking gateway.yaml does not load bell. */
export const providerTitles: Readonly<Record<string, string>> = {
  arcgisonline: 'ArcGIS Online',
  auth0: 'Auth0',
  azure: 'Microsoft',
  'azure-legacy': 'Microsoft',
  bitbucket: 'Bitbucket',
  cognito: 'Amazon Cognito',
  digitalocean: 'DigitalOcean',
  discord: 'Discord',
  dropbox: 'Dropbox',
  facebook: 'Facebook',
  fitbit: 'Fitbit',
  foursquare: 'Foursquare',
  github: 'GitHub',
  gitlab: 'GitLab',
  google: 'Google',
  googleplus: 'Google+',
  instagram: 'Instagram',
  linkedin: 'LinkedIn',
  live: 'Microsoft',
  medium: 'Medium',
  meetup: 'Meetup',
  nest: 'Nest',
  okta: 'Okta',
  phabricator: 'Phabricator',
  pingfed: 'PingFederate',
  pinterest: 'Pinterest',
  reddit: 'Reddit',
  salesforce: 'Salesforce',
  slack: 'Slack',
  spotify: 'Spotify',
  stripe: 'Stripe',
  trakt: 'Trakt',
  tumblr: 'Tumblr',
  twitch: 'Twitch',
  twitter: 'X',
  vk: 'VK',
  wordpress: 'WordPress',
  yahoo: 'Yahoo',
};
