import type { AuditCode } from '../../domain/audit-code.ts';

/** Why something ended as it did, after a colon: a code without words does not compile. */
const WORDS: Readonly<Record<AuditCode, string>> = {
  // permission
  role_needed: 'no permission',
  other_organization: 'a member of another organization',
  other_workspace: 'another workspace',
  identity_unknown: 'Slack didn’t confirm who it was',
  not_creator: 'not the creator of the server',
  already_handled: 'the request was already handled',
  unreadable_press: 'the button was out of date',
  newer_version: 'it needs a newer version of the app',
  own_request: 'it was their own request',
  not_requester: 'it was someone else’s request',
  no_open_request: 'there was no open request',
  beyond_request: 'it was more than requested',
  grants_moved: 'someone else had changed the roles',
  continuation_over: 'it was no longer possible to continue',
  // typed text
  unknown_command: 'no such command',
  bad_words: 'the command wasn’t understood',
  unknown_server: 'no such server',
  ambiguous_server: 'several servers match',
  prefix_only: 'only the beginning of a label matched',
  rebooted_recently: 'it was rebooted moments before',
  server_protected: 'the server is protected',
  label_differs: 'the label doesn’t match',
  unknown_choice: 'no such plan, location or image',
  bad_label: 'the label can’t be used',
  too_many_servers: 'too many servers at once',
  server_renamed: 'the server’s label has changed',
  confirmation_expired: 'the confirmation had expired',
  // money
  price_moved: 'the price has changed',
  already_renewed: 'it was already renewed',
  paid_until_unknown: 'the paid-until date is unknown',
  create_in_doubt: 'an earlier order for this label is unconfirmed',
  create_in_doubt_elsewhere: 'another workspace’s order for this label is unconfirmed',
  renewed_elsewhere: 'another workspace ordered this month',
  stale_confirmation: 'the confirmation had expired',
  restored: 'the database was restored from a backup',
  list_incomplete: 'the server list was incomplete',
  order_unsaved: 'the database failed',
  approval_unsaved: 'the database failed',
  doubt_over: 'the case was already closed',
  account_changed: 'the hosting account was reconnected',
  label_moved: 'the server’s label has changed',
  snooze_too_late: 'its paid time ends too soon for a snooze',
  nothing_to_renew: 'no server had to be renewed',
  over_budget: 'over budget',
  purchases_frozen: 'purchases are frozen',
  approval_needed: 'needs approval',
  not_approved: 'the request couldn’t be checked',
  // password and key
  no_password: 'no stored root password',
  no_api_key: 'no hosting account is connected',
  key_unreadable: 'the encryption key is missing',
  key_missing: 'the encryption key is missing',
  link_unusable: 'the link was used or had expired',
  no_public_url: 'the app has no public address',
  // access
  last_owner: 'the last owner can’t be removed',
  owner_limited: 'owners always have access to every server',
  no_grantee: 'can’t have a role',
  grant_over: 'the role was already gone',
  role_held: 'already has this role',
  label_needed: 'the server has no label',
  asked_before: 'requested shortly before',
  asked_enough: 'too many requests',
  request_over: 'the request was already closed',
  // workflows
  workflow_key_invalid: 'the grant key doesn’t permit it',
  workflow_key_name: 'a grant key has this name',
  workflow_keys_full: 'too many grant keys',
  workflow_key_gone: 'the grant key was already revoked',
  workflow_run_over: 'the workflow step was already answered',
  // settings
  channel_unwritable: 'the app can’t post in the channel',
  settings_moved: 'someone else had changed the settings',
  // the hosting API
  unauthorized: 'key rejected',
  key_rejected: 'key rejected',
  not_allowed: 'the hosting account hasn’t been topped up yet',
  bad_request: 'the hosting API rejected the request',
  not_enough_balance: 'not enough balance',
  limit: 'the hosting account’s server limit is reached',
  not_created: 'the hosting company couldn’t create it',
  checking: 'the hosting company hasn’t confirmed it',
  not_found: 'no such server',
  wrong_state: 'the server’s state didn’t allow it',
  rate_limited: 'the hosting API’s rate limit',
  no_answer: 'the hosting API didn’t answer',
  unreadable_answer: 'the hosting API’s answer couldn’t be read',
  not_sent: 'the hosting API couldn’t be reached',
  unknown_code: 'the hosting API returned an unknown error',
  // the process
  too_many_waiting: 'too many requests were waiting',
  waited_too_long: 'waited too long for the rate limit',
  shutting_down: 'the app was restarting',
  defect: 'unexpected error',
  unreadable: 'the reason was written by another version of the app',
  // unconfirmed, and what became of it
  contradiction: 'the evidence is contradictory',
  not_found_yet: 'not found so far',
  not_done: 'not found',
  decided_not_done: 'a manager decided that it wasn’t done',
  lost_account: 'another hosting account is connected',
  done: 'done',
  found_late: 'found later',
  decided: 'decided by a manager',
  approved: 'approved',
  denied: 'declined',
  expired: 'expired',
  // the audit itself
  changed: 'an entry was altered',
  removed: 'an entry was removed',
  reordered: 'entries were reordered',
  head: 'the newest entry is missing',
};

/** The words of a code; one that another version of the app has written is shown without its underscores. */
export function describeCode(code: string): string {
  return isAuditCode(code) ? WORDS[code] : code.replaceAll('_', ' ');
}

function isAuditCode(code: string): code is AuditCode {
  return Object.hasOwn(WORDS, code);
}
