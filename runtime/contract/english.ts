import en from "zod/v4/locales/en.js";
import * as z from "zod/mini";

// zod/mini without a locale reports every problem as "Invalid input".
z.config(en());
