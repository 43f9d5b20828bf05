import type { SlackClock } from './clock.ts';
import type { ManifestFacts } from './manifest.ts';
import type { OAuthApp } from './oauth/oauth.ts';
import type { PageShortcut } from './page-api.ts';
import type { Pages } from './server.ts';
import type { SlackSnapshot } from './snapshot.ts';

/** What a local Slack is started with. */
export interface SlackOptions {
  readonly app: {
    /** The app's `/slack/events`; may be set later at `slack.app.commandsUrl`. */
    readonly commandsUrl?: string;
    readonly signingSecret: string;
    /** Empty: it is not installed yet, and `oauth` says how it can be. */
    readonly botToken: string;
    /** Lets users install the app; the rest is as in the manifest. */
    readonly oauth?: Pick<OAuthApp, 'clientId' | 'clientSecret'> & Partial<OAuthApp>;
    /** For Socket Mode. */
    readonly appToken?: string;
    readonly appTokenScopes?: readonly string[];
    /** Default `/vps`. */
    readonly command?: string;
    readonly description?: string;
    readonly usageHint?: string;
    /** Default: all that the manifest asks for. */
    readonly scopes?: readonly string[];
    /** What the app was created from; default the manifest of this repository. */
    readonly manifest?: ManifestFacts;
    readonly shortcuts?: readonly PageShortcut[];
    /** Default: those that the manifest subscribes to. */
    readonly events?: readonly string[];
    /** Default 3000, as with Slack. */
    readonly ackTimeoutMs?: number;
    /** When an event that was not acknowledged comes again. */
    readonly eventRetryDelaysMs?: readonly number[];
  };
  /** Slack's tiers, and one message a second in each channel; default true. */
  readonly hasRateLimits?: boolean;
  /** For triggers (3 s), response_urls (30 min) and timestamps; default the wall clock. */
  readonly clock?: SlackClock;
  /** Default: any free one. */
  readonly port?: number;
  /** What an earlier process left. */
  readonly stored?: SlackSnapshot | undefined;
  /** Serves the paths that the local Slack does not. */
  readonly pages?: Pages;
}
