import { ApiError } from './protocol.ts';

/** A size that can be ordered (docs/hosting-api.md 2); `monthly` is a decimal string with two decimals. */
export interface Plan {
  readonly code: string;
  readonly vcpu: number;
  readonly ram_mb: number;
  readonly disk_gb: number;
  readonly monthly: string;
}

/** The answer of GET /catalog (docs/hosting-api.md 2). */
export interface Catalog {
  readonly plans: readonly Plan[];
  readonly locations: readonly string[];
  readonly images: readonly string[];
}

/** What is sold now; prices may move while the service runs. */
export class PriceList {
  #catalog: Catalog;

  constructor(catalog: Catalog) {
    this.#catalog = catalog;
  }

  get current(): Catalog {
    return this.#catalog;
  }

  findPlan(code: string): Plan | undefined {
    return this.#catalog.plans.find((plan) => plan.code === code);
  }

  /** Today's price of a plan for one month, in minor units. @throws RangeError for a plan that is not sold */
  priceMinorOf(code: string): number {
    const plan = this.findPlan(code);
    if (!plan) throw new RangeError(`There is no plan "${code}".`);
    return minorOf(plan.monthly);
  }

  /** Changes a plan's price for every later charge, renewals included. @throws RangeError */
  setPrice(code: string, monthly: string): void {
    minorOf(monthly);
    if (!this.findPlan(code)) throw new RangeError(`There is no plan "${code}".`);
    const plans = this.#catalog.plans.map((plan) => (plan.code === code ? { ...plan, monthly } : plan));
    this.#catalog = { ...this.#catalog, plans };
  }
}

/** The six plans, four locations and six images that are sold unless a test says otherwise. */
export function defaultCatalog(): Catalog {
  return {
    plans: [
      { code: 'micro', vcpu: 1, ram_mb: 512, disk_gb: 10, monthly: '2.90' },
      { code: 'small', vcpu: 1, ram_mb: 2048, disk_gb: 25, monthly: '5.90' },
      { code: 'medium', vcpu: 2, ram_mb: 4096, disk_gb: 60, monthly: '11.90' },
      { code: 'large', vcpu: 4, ram_mb: 8192, disk_gb: 120, monthly: '23.50' },
      { code: 'xlarge', vcpu: 8, ram_mb: 16384, disk_gb: 240, monthly: '46.00' },
      { code: 'memory', vcpu: 4, ram_mb: 32768, disk_gb: 120, monthly: '64.99' },
    ],
    locations: ['ams', 'fra', 'hel', 'nyc'],
    images: ['debian-13', 'debian-12', 'ubuntu-24.04', 'ubuntu-22.04', 'alma-9', 'rocky-9'],
  };
}

/** A catalog past every limit of a menu: 150 plans, 12 locations, 300 images. */
export function largeCatalog(): Catalog {
  const count = (length: number) => Array.from({ length }, (_, index) => index + 1);
  return {
    plans: count(150).map((n) => ({
      code: `plan-${String(n).padStart(3, '0')}`,
      vcpu: 1 + (n % 64),
      ram_mb: 512 * n,
      disk_gb: 10 * n,
      monthly: `${n * 3}.${String((n * 7) % 100).padStart(2, '0')}`,
    })),
    locations: count(12).map((n) => `region-${n}`),
    images: count(300).map((n) => `image-${String(n).padStart(3, '0')}`),
  };
}

/** What POST /servers asks for (docs/hosting-api.md 4). */
export interface Order {
  readonly plan: string;
  readonly location: string;
  readonly image: string;
  readonly label: string;
}

/**
 * Reads a create request's body. Fields the document does not name are ignored; labels may repeat.
 * @throws ApiError bad_request when a field is missing or wrong (docs/hosting-api.md 4)
 */
export function parseOrder(body: string, prices: PriceList): Order {
  const fields = parseObject(body);
  const { plan, location, image, label } = fields;
  const { locations, images } = prices.current;
  if (typeof plan !== 'string' || !prices.findPlan(plan)) throw new ApiError('bad_request');
  if (typeof location !== 'string' || !locations.includes(location)) throw new ApiError('bad_request');
  if (typeof image !== 'string' || !images.includes(image)) throw new ApiError('bad_request');
  if (typeof label !== 'string' || label.trim() === '') throw new ApiError('bad_request');
  if ([...label].length > MAX_LABEL_LENGTH) throw new ApiError('bad_request');
  return { plan, location, image, label };
}

// Our invention: no length limit of a label is known (docs/hosting-api.md 2.9).
const MAX_LABEL_LENGTH = 255;

function parseObject(body: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    throw new ApiError('bad_request');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new ApiError('bad_request');
  return { ...value };
}

const DECIMAL = /^(\d{1,9})\.(\d{2})$/;

/** Minor units of a decimal amount with two decimals, as prices are written (docs/hosting-api.md 2). @throws RangeError */
function minorOf(decimal: string): number {
  const parts = DECIMAL.exec(decimal);
  if (!parts) throw new RangeError(`"${decimal}" is not an amount with two decimals, such as 9.99.`);
  return Number(parts[1]) * 100 + Number(parts[2]);
}

/** The decimal amount with two decimals of an integer of minor units. */
export const decimalOf = (minor: number) => (minor / 100).toFixed(2);
