import en from "zod/v4/locales/en.js";
import * as z from "zod/mini";

// People read what is wrong with a value; of itself the small zod says "Invalid input" to everything.
z.config(en());
